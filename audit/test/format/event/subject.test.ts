import t from "tap";
import { ANONYMOUS, subjectOf } from "../../../src/format/event/subject.ts";

t.test(
  "personal values are erased with whom they concern, also where only his key was named",
  async (t) => {
    const object = { kind: "object", id: "0".repeat(64) } as const;
    const user = { sub: "u_1", kind: "user" } as const;
    const unproven = { sub: "unproven", kind: "anonymous" } as const;
    for (const [about, subject] of [
      [{ actor: user, object }, "u_1"],
      [
        {
          actor: { sub: "operator", kind: "operator" } as const,
          object: { kind: "user", id: "u_2" } as const,
        },
        "u_2",
      ],
      [{ actor: { sub: "node-a", kind: "node" } as const, object, on_behalf_of: "u_3" }, "u_3"],
      [{ actor: unproven, object, detail: { claimed: "u_1", status: 403 } }, "u_1"],
      [{ actor: unproven, object, detail: { status: 403 } }, ANONYMOUS],
      [{ actor: unproven, object }, ANONYMOUS],
      [{ actor: user, object, detail: { claimed: "u_9" } }, "u_1"],
    ] as const)
      t.equal(subjectOf(about), subject, JSON.stringify(about));
  },
);
