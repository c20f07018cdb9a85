import t from "tap";
import {
  laggingMember,
  type StartingMember,
} from "../../../src/kernel/decisions/lagging-member.ts";

const member = (id: string, of: Partial<StartingMember> = {}): StartingMember => ({
  ...{ id, state: "STARTING", is_staged: 0, is_ready: 0, progress_at: 1_000 },
  ...of,
});

t.test(
  "a start waited for the member that its node never asked for, else for the one that got least far",
  async (t) => {
    const cases: [string | null, StartingMember[]][] = [
      [
        "b",
        [member("a", { progress_at: null }), member("b", { state: "LEASED", progress_at: null })],
      ],
      ["b", [member("a", { is_staged: 1 }), member("b", { progress_at: 2_000 })]],
      ["b", [member("a", { progress_at: 2_000 }), member("b")]],
      ["b", [member("a"), member("b", { progress_at: null })]],
      ["a", [member("a"), member("b")]],
      [
        "b",
        [
          member("a", { is_staged: 1, is_ready: 1, progress_at: 1 }),
          member("b", { is_staged: 1, progress_at: 9 }),
        ],
      ],
      ["b", [member("a", { state: "RUNNING", progress_at: 1 }), member("b")]],
      [null, [member("a", { state: "RUNNING" }), member("b", { state: "RELEASED" })]],
      [null, []],
    ];
    for (const [expected, members] of cases)
      t.equal(laggingMember(members), expected, JSON.stringify(members));
  },
);
