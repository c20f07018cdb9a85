/** The command tables of our programs, as the programs themselves have them. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { HELP as VERIFIER_HELP } from "@resontech/verifier/report/output";
import { PROOFS } from "@resontech/proofs/catalogue";
import { HELP as DEVELOP_HELP } from "../develop/options.ts";
import { HELP as RELEASE_HELP } from "../release/options.ts";
import { HELP as TEST_HELP } from "../tests/options.ts";
import type { CommandTable, Programs } from "./commands.ts";

const repository = join(import.meta.dirname, "../..");
const NO_COMMANDS: ReadonlyMap<string, CommandTable> = new Map();

/** Once in a process: a program is composed when it is imported first. */
export async function readPrograms(): Promise<Programs> {
  const install = await tableOf("../../installer/src/main.ts");
  // `install` is what `sh install.sh` does when no command is named.
  const installShell: CommandTable = {
    options: install.subcommands.get("install")?.options ?? new Map(),
    subcommands: new Map(
      [...install.subcommands].filter(([name]) => name === "resume" || name === "uninstall"),
    ),
  };
  const joinShell: CommandTable = {
    options: install.subcommands.get("join")?.options ?? new Map(),
    subcommands: NO_COMMANDS,
  };
  const airgap = await tableOf("../../airgap/src/main.ts");
  const verifier = tableOfHelp(VERIFIER_HELP);
  const witness = tableOfHelp(witnessUsage(), ["init", "admit", "serve", "show"]);
  const { scripts } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  return {
    scripts: new Set(Object.keys(scripts)),
    tables: new Map<string, CommandTable>([
      ["appliance", await tableOf("../../appliance/src/main.ts")],
      ["resontech", await tableOf("../../cli/src/main.ts")],
      ["appliance-node", await tableOf("../../appliance/src/node/main.ts")],
      ["sh join-node.sh", joinShell],
      ["join-node.sh", joinShell],
      ["sh install.sh", installShell],
      ["install.sh", installShell],
      ["airgap", airgap],
      ["npm run airgap --", airgap],
      ["node sov-verify.mjs", verifier],
      ["witness", witness],
      ["node witness.mjs", witness],
      ["npm test", tableOfHelp(TEST_HELP)],
      ["npm run dev --", tableOfHelp(DEVELOP_HELP)],
      ["npm run release --", tableOfHelp(RELEASE_HELP)],
      ["npm run try --", { options: new Map([["--json", false]]), subcommands: NO_COMMANDS }],
      ["npm run prove --", proofTable()],
    ]),
  };
}

/** What is read here of a command of commander. */
type ComposedCommand = {
  name: () => string;
  options: readonly {
    long?: string | null;
    short?: string | null;
    required: boolean;
    optional: boolean;
  }[];
  commands: readonly ComposedCommand[];
};

/** Each program composes its commands and then parses; here it hands them over instead, and nothing of it runs. */
async function tableOf(main: string): Promise<CommandTable> {
  const composed: ComposedCommand[] = [];
  const handOver = async function (this: ComposedCommand) {
    composed.push(this);
    return this;
  };
  // The one that this program imports: rooms may have copies of their own.
  const { Command } = createRequire(join(import.meta.dirname, main))("commander") as {
    Command: { prototype: object };
  };
  const parse = Object.getOwnPropertyDescriptor(Command.prototype, "parseAsync");
  if (parse === undefined) throw new Error("commander has no parseAsync any more");
  Object.defineProperty(Command.prototype, "parseAsync", { ...parse, value: handOver });
  try {
    await import(main);
  } finally {
    Object.defineProperty(Command.prototype, "parseAsync", parse);
  }
  const [program] = composed;
  if (program === undefined) throw new Error(`${main} composed no command`);
  return tableOfCommand(program);
}

function tableOfCommand(command: ComposedCommand): CommandTable {
  const options = command.options.flatMap(({ long, short, required, optional }) =>
    [long, short].flatMap((form) => (form == null ? [] : [[form, required || optional] as const])),
  );
  return {
    options: new Map(options),
    subcommands: new Map(command.commands.map((each) => [each.name(), tableOfCommand(each)])),
  };
}

/** Of a program without commander: the options that its help names, of which those with a value have it in capitals. */
function tableOfHelp(help: string, commands: readonly string[] = []): CommandTable {
  const options = [...help.matchAll(/(--[a-z][a-z0-9-]*)( [A-Z])?/g)].map(
    ([, form = "", value]) => [form, value !== undefined] as const,
  );
  // An option that stands again in an example has its value there in small letters.
  const all = new Map<string, boolean>();
  for (const [form, hasValue] of options) all.set(form, hasValue || all.get(form) === true);
  const none: CommandTable = { options: all, subcommands: NO_COMMANDS };
  return { options: all, subcommands: new Map(commands.map((name) => [name, none])) };
}

function witnessUsage(): string {
  const source = readFileSync(join(repository, "parts/witness/src/main.ts"), "utf8");
  const usage = /const USAGE = `([^`]*)`/.exec(source)?.[1];
  if (usage === undefined) throw new Error("parts/witness/src/main.ts has no USAGE");
  return usage;
}

function proofTable(): CommandTable {
  return {
    options: new Map(),
    subcommands: NO_COMMANDS,
    words: new Set([...Object.keys(PROOFS), "all", "document"]),
  };
}
