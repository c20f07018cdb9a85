/** What `appliance scheduler` asks of the coordinator, what it says, and how it ends. */
import type { AskOperator, OperatorVerb } from "@resontech/contracts/operator-routes";
import { Command, CommanderError } from "commander";
import t from "tap";
import type { OperatorShell } from "../../src/commands/ask-operator.ts";
import { addSchedulerCommands } from "../../src/commands/scheduler-commands.ts";

const DECISIONS = {
  placements: [{ job: "job-a", isFurther: false, home: "node-a", workers: ["node-a-0"] }],
  ...{ replacements: [], reserved: ["job-c"] },
  preemptions: [
    {
      ...{ job: "job-b", reason: "guarantee", workers: ["node-a-1"] },
      victims: [{ job: "job-x", attempt: "at-1" }],
    },
  ],
};
const PLAN = {
  ...{ plan: 812, at: "2026-11-30T14:03:07.120Z", release: "1.4.0", missed: 0, isDamaged: false },
  ...{ input: "ab".repeat(32), decisions: DECISIONS },
};
const LIST = {
  recording: "full",
  plans: [PLAN, { ...PLAN, plan: 811, missed: 2, isDamaged: true }],
  unread: [{ file: "/r/plans-1.rec", why: "cut", at: 90, bytes: 12, after: 811 }],
};
const REPLAY = {
  ...{ plan: PLAN, replayedBy: "1.4.0", isSame: true, replayed: null },
  job: { job: "job-b", told: ["job-x make way for it"] },
};

async function run(answer: unknown, ...words: string[]) {
  const asked: unknown[] = [];
  const said: unknown[] = [];
  const shell: OperatorShell = {
    openContext: () => {
      throw new Error("no part is asked for");
    },
    ask: (async (verb: OperatorVerb, fields: unknown) => {
      asked.push([verb, fields]);
      return answer;
    }) as AskOperator,
    print: (value) => said.push(value),
    table: (_head, rows) => said.push(...rows),
    say: (line) => said.push(line),
  };
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  addSchedulerCommands(program, shell);
  const before = process.exitCode;
  process.exitCode = undefined;
  try {
    await program.parseAsync(["scheduler", ...words], { from: "user" });
    return { asked, said, code: process.exitCode ?? 0 };
  } finally {
    process.exitCode = before;
  }
}

t.test("plans are listed, with what can't be read and what is missing", async (t) => {
  const { asked, said, code } = await run(LIST, "plans", "--job", "job-b", "--limit", "7");
  t.same(asked, [["plan-list", { limit: 7, job: "job-b" }]]);
  const decided = "1 placed, 1 make way, reserved for job-c";
  t.same(said, [
    ["812", "2026-11-30 14:03:07", "abababababab", decided],
    [
      ...["811", "2026-11-30 14:03:07", "abababababab"],
      `${decided}; damaged: can't be made again; 2 before it not recorded`,
    ],
    "warning: /r/plans-1.rec was cut at byte 90: 12 bytes after plan 811 can't be read",
    "warning: no plan is recorded now: the disk is full",
  ]);
  t.equal(code, 0);
  t.same((await run(LIST, "plans", "--json")).said, [{ ok: true, verb: "plan-list", ...LIST }]);
});

t.test("a plan that comes out the same says so, and what it says about a job", async (t) => {
  const { asked, said, code } = await run(REPLAY, "replay", "812", "--job", "job-b");
  t.same(asked, [["plan-replay", { plan: 812, job: "job-b" }]]);
  t.equal(said.at(-2), "1.4.0 decides the same, byte by byte");
  t.equal(said.at(-1), "job-b: job-x make way for it");
  t.equal(code, 0);
  const [json] = (await run(REPLAY, "replay", "812", "--json")).said;
  t.same(json, { ok: true, verb: "plan-replay", ...REPLAY });
});

t.test("one that comes out otherwise ends with another code, in JSON too", async (t) => {
  const nothing = { placements: [], replacements: [], preemptions: [], reserved: [] };
  const other = { ...REPLAY, replayedBy: "1.5.0", isSame: false, replayed: nothing, job: null };
  const { said, code } = await run(other, "replay", "812");
  t.equal(code, 3);
  t.same(said.slice(-2), [
    "1.5.0 decides otherwise: nothing",
    "another release made the plan: its planner may have been another",
  ]);
  t.equal((await run(other, "replay", "812", "--json")).code, 3);
});

t.test("what is no plan and no number is refused before anybody is asked", async (t) => {
  for (const words of [
    ["replay", "x"],
    ["replay", "0"],
    ["replay"],
    ["plans", "--limit", "0"],
    ["plans", "--limit", "1001"],
  ])
    await t.rejects(run(LIST, ...words), CommanderError);
});
