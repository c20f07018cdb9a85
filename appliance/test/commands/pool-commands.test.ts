/** What `appliance pools`, `maintenance` and `reservations` ask of the coordinator, and what they say. */
import type { AskOperator, OperatorVerb } from "@resontech/contracts/operator-routes";
import { Command } from "commander";
import t from "tap";
import type { OperatorShell } from "../../src/commands/ask-operator.ts";
import { addCalendarCommands } from "../../src/commands/calendar-commands.ts";
import { addPoolCommands } from "../../src/commands/pool-commands.ts";

const POOL = {
  ...{ id: "pool-1", name: "cardio", kind: "managed", project: { id: "p_1", name: "cardio" } },
  ...{ lends: true, mostRunMinutes: 600, classes: ["train"], nodes: ["node-a"], workers: [] },
  ...{ projectWorkers: null, workerModels: null, unlike: [], warnings: [] },
  ...{ cacheBytes: null, kept: [] },
};
const ENTRY = {
  ...{ id: "cal-1", kind: "maintenance", pool: null, nodes: ["node-a"], project: null },
  ...{ from: "2026-12-05T18:00:00.000Z", until: "2026-12-05T22:00:00.000Z", reason: "firmware" },
  affected: 1,
};
const RESERVED = { ...ENTRY, id: "cal-2", kind: "reservation", project: POOL.project };
const ANSWERS: Partial<Record<OperatorVerb, unknown>> = {
  ...{ "pool-list": { pools: [POOL] }, "pool-add": POOL, "pool-set": POOL },
  ...{ "pool-remove": { id: "pool-1" }, "calendar-list": { entries: [ENTRY, RESERVED] } },
  ...{ "calendar-add": ENTRY, "calendar-set": ENTRY, "calendar-remove": { id: "cal-1" } },
};

async function run(...words: string[]) {
  const asked: unknown[] = [];
  const said: unknown[] = [];
  const shell: OperatorShell = {
    openContext: () => {
      throw new Error("no part is asked for");
    },
    ask: (async (verb: OperatorVerb, fields: unknown) => {
      asked.push(fields === undefined ? [verb] : [verb, fields]);
      return ANSWERS[verb];
    }) as AskOperator,
    print: (value) => said.push(value),
    table: (_head, rows) => said.push(...rows),
    say: (line) => said.push(line),
  };
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  addPoolCommands(program, shell);
  addCalendarCommands(program, shell);
  await program.parseAsync(words, { from: "user" });
  return { asked, said };
}

t.test("a pool is made, changed, listed and removed", async (t) => {
  t.same(
    await run(
      ...["pools", "add", "cardio", "--kind", "managed", "--project", "p_1", "--lend"],
      ...["--nodes", "node-a,node-b", "--at-most", "600", "--classes", "train"],
    ),
    {
      asked: [
        [
          "pool-add",
          {
            ...{ name: "cardio", kind: "managed", project: "p_1", nodes: ["node-a", "node-b"] },
            ...{ classes: ["train"], lends: true, mostRunMinutes: 600 },
          },
        ],
      ],
      said: ["cardio: managed, node-a"],
    },
  );
  t.same((await run("pools", "add", "big", "--kind", "shared")).asked, [
    ["pool-add", { name: "big", kind: "shared" }],
  ]);
  t.same(
    (await run("pools", "set", "cardio", "--no-lend", "--at-most", "none", "--classes", "none"))
      .asked,
    [["pool-set", { id: "cardio", lends: false, mostRunMinutes: null, classes: null }]],
  );
  t.same((await run("pools", "set", "cardio", "--remove-nodes", "node-a")).asked, [
    ["pool-set", { id: "cardio", removeNodes: ["node-a"] }],
  ]);
  t.same((await run("pools", "ls")).said, [
    ["cardio", "managed", "p_1", "yes", "600 min", "train", "-", "-", "node-a"],
  ]);
  t.same((await run("pools", "rm", "cardio")).said, ["cardio is removed"]);
  for (const bad of [
    ["pools", "add", "x", "--kind", "mine"],
    ["pools", "add", "x"],
    ["pools", "set", "x", "--at-most", "1.5"],
    ["pools", "set", "x", "--add-nodes", "a,a"],
  ])
    await t.rejects(run(...bad), { code: /commander/ }, bad.join(" "));
});

t.test(
  "limits and expected workers are set and lifted, and what does not go together is said",
  async (t) => {
    const set = (...words: string[]) => run("pools", "set", "cardio", ...words);
    const rules = ["--project-workers", "4", "--workers", "h100,h100-mig-1g.10gb"];
    t.same((await set(...rules)).asked, [
      ["pool-set", { id: "cardio", projectWorkers: 4, workerModels: ["h100", "h100-mig-1g.10gb"] }],
    ]);
    t.same((await set("--project-workers", "none", "--workers", "none")).asked, [
      ["pool-set", { id: "cardio", projectWorkers: null, workerModels: null }],
    ]);
    await t.rejects(set("--project-workers", "0"), /whole number above 0/);
    ANSWERS["pool-set"] = {
      ...{ ...POOL, workerModels: ["h100"], warnings: ["pools leave too few"] },
      unlike: [
        { node: "node-a", shows: ["a100"] },
        { node: "node-b", shows: [] },
      ],
    };
    t.same((await set("--workers", "h100")).said, [
      "cardio: managed, node-a",
      "warning: cardio: node-a shows a100; the pool expects h100",
      "warning: cardio: node-b shows no worker; the pool expects h100",
      "warning: cardio: pools leave too few",
    ]);
    ANSWERS["pool-set"] = POOL;
  },
);

t.test("what nodes keep of inputs is bounded and lifted, and told where it is", async (t) => {
  const set = (...words: string[]) => run("pools", "set", "cardio", ...words);
  t.same((await set("--cache", "200GB")).asked, [["pool-set", { id: "cardio", cacheBytes: 2e11 }]]);
  t.same((await set("--cache", "none")).asked, [["pool-set", { id: "cardio", cacheBytes: null }]]);
  await t.rejects(set("--cache", "much"), /Write a size as `200GB`, or `none`/);
  const caching = { ...POOL, cacheBytes: 1024 ** 3, kept: [{ node: "node-a", bytes: 1024 ** 2 }] };
  ANSWERS["pool-list"] = { pools: [caching] };
  t.equal(((await run("pools", "ls")).said as string[][])[0]?.[7], "1.0 GiB each, node-a 1.0 MiB");
  ANSWERS["pool-list"] = { pools: [POOL] };
});

t.test("maintenance and reservations are announced, moved and called off", async (t) => {
  const times = ["--from", "2026-12-05T18:00Z", "--until", "2026-12-05T22:00Z"];
  const asked = { from: "2026-12-05T18:00Z", until: "2026-12-05T22:00Z" };
  const added = await run(
    "maintenance",
    "add",
    "--nodes",
    "node-a",
    "--reason",
    "firmware",
    ...times,
  );
  t.same(added.asked, [["calendar-add", { nodes: ["node-a"], reason: "firmware", ...asked }]]);
  t.match(added.said, [/^cal-1: from .* until .*; 1 job that runs may run into it$/]);
  t.same((await run("reservations", "add", "p_1", "--pool", "big", ...times)).asked, [
    ["calendar-add", { pool: "big", project: "p_1", ...asked }],
  ]);
  const now = (await run("maintenance", "add", "--nodes", "node-a", "--until", asked.until)).asked;
  t.match(now, [["calendar-add", { from: /^\d{4}-.*Z$/, until: asked.until }]]);
  t.match((await run("maintenance", "ls")).said, [["cal-1"]], "of its kind alone");
  t.match((await run("reservations", "ls")).said, [["cal-2", "p_1"]]);
  t.same((await run("maintenance", "set", "cal-1", "--until", asked.until)).asked, [
    ["calendar-set", { id: "cal-1", until: asked.until }],
  ]);
  t.same((await run("reservations", "rm", "cal-1")).said, ["cal-1 is called off"]);
  await t.rejects(run("maintenance", "add", "--nodes", "node-a"), { code: /commander/ });
});
