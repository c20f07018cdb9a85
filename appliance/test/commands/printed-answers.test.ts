/** The JSON of commands that show an answer of the coordinator as it came: programs of customers read it, and each release writes the same. */
import type { AskOperator, OperatorVerb } from "@resontech/contracts/operator-routes";
import { Command } from "commander";
import t from "tap";
import type { OperatorShell } from "../../src/commands/ask-operator.ts";
import { addJobCommands } from "../../src/commands/job-commands.ts";
import { addKeyCommands } from "../../src/commands/key-commands.ts";
import { addNodeCommands } from "../../src/commands/node-commands.ts";
import { addProjectCommands } from "../../src/commands/project-commands.ts";
import { addUserCommands } from "../../src/commands/user-commands.ts";

const PAIR = { accessKeyId: "AK", secretAccessKey: "SK" };
const NODE = { node: "n", state: "READY", workers: 1, busy: 0, drained: null, silentS: 1 };
const ANSWERS: Partial<Record<OperatorVerb, unknown>> = {
  "user-password": { username: "ada", password: "pw" },
  "user-quota": { username: "ada", bytes: 1000 },
  "user-disable": { username: "ada", livingJobs: 2 },
  "user-enable": { username: "ada", ...PAIR },
  "user-traces": { userId: "u_1", username: "ada", rows: [] },
  "user-forget": {
    userId: "u_1",
    username: "forgotten-1",
    bucket: null,
    directory: null,
    rows: [],
  },
  "key-renew": { key: "k_1", expiresAt: "2026-01-01" },
  "key-revoke": { key: "k_1" },
  "job-cancel": { job: "job-1", state: "CANCELLED" },
  "project-add": { id: "p_1", name: "lung", team: "research", isDefault: false },
  "node-list": [NODE],
  "node-releases": { releases: [{ node: "n", release: "1", upgrade: null }] },
  "node-show": { node: NODE, members: [], workers: [] },
  "node-drain": { node: "n", members: 3 },
  "node-undrain": { node: "n", members: 0 },
};

async function printed(...words: string[]): Promise<string> {
  const said: string[] = [];
  const shell: OperatorShell = {
    openContext: () => {
      throw new Error("no appliance is looked at");
    },
    ask: (async (verb: OperatorVerb) => ANSWERS[verb]) as AskOperator,
    print: (value) => said.push(JSON.stringify(value)),
    table: () => {},
    say: () => {},
  };
  const program = new Command("appliance").exitOverride();
  for (const add of [
    ...[addUserCommands, addKeyCommands, addJobCommands],
    ...[addProjectCommands, addNodeCommands],
  ])
    add(program, shell);
  await program.parseAsync(words, { from: "user" });
  return said.join("\n");
}

t.test("an answer begins with `ok` and its verb, and has its fields in one order", async (t) => {
  for (const [words, wanted] of [
    [
      "user password ada --json",
      '{"ok":true,"verb":"user-password","username":"ada","password":"pw"}',
    ],
    ["user quota ada 1KB --json", '{"ok":true,"verb":"user-quota","username":"ada","bytes":1000}'],
    [
      "user disable ada --json",
      '{"ok":true,"verb":"user-disable","username":"ada","livingJobs":2}',
    ],
    [
      "user enable ada",
      '{"ok":true,"verb":"user-enable","username":"ada","accessKeyId":"AK","secretAccessKey":"SK"}',
    ],
    [
      "user traces ada --json",
      '{"ok":true,"verb":"user-traces","userId":"u_1","username":"ada","rows":[]}',
    ],
    [
      "user forget ada --despite-holds --json",
      '{"ok":true,"verb":"user-forget","userId":"u_1","username":"forgotten-1","bucket":null,"directory":null,"rows":[]}',
    ],
    ["key renew k_1 --json", '{"ok":true,"verb":"key-renew","key":"k_1","expiresAt":"2026-01-01"}'],
    ["key revoke k_1 --json", '{"ok":true,"verb":"key-revoke","key":"k_1"}'],
    [
      "job cancel job-1 --reason x --json",
      '{"ok":true,"verb":"job-cancel","job":"job-1","state":"CANCELLED"}',
    ],
    [
      "project add lung --lead ada --json",
      '{"ok":true,"verb":"project-add","project":"p_1","name":"lung","team":"research","lead":"ada"}',
    ],
    ["node drain n --json", '{"ok":true,"verb":"node-drain","node":"n","members":3}'],
    ["node undrain n --json", '{"ok":true,"verb":"node-undrain","node":"n"}'],
  ] as const)
    t.equal(await printed(...words.split(" ")), wanted, words);
});

t.test("a node is shown with its release beside the rest", async (t) => {
  const node = '{"node":"n","state":"READY","workers":1,"busy":0,"drained":null,"silentS":1';
  const shown = `${node},"release":"1","upgrade":null}`;
  t.equal(await printed("node", "ls", "--json"), `[${shown}]`);
  t.equal(
    await printed("node", "show", "n", "--json"),
    `{"node":${shown},"members":[],"workers":[]}`,
  );
});
