/** The commands as a shell has to know them, read from the one table that runs them. */
import type { Argument, Command, Option } from "commander";

/** What may stand in a place. `ids`: asked of the appliance. */
export type Place =
  | { kind: "words"; words: readonly string[] }
  | { kind: "ids"; of: "jobs" | "nodes" | "deployments" }
  | { kind: "files" }
  | { kind: "free" };

export type CommandNode = {
  /** From the program on, without it: `jobs ls`; empty for the program itself. */
  path: string;
  commands: readonly string[];
  options: readonly { names: readonly string[]; value: Place | null }[];
  /** In order; the last of `isVariadic` stands for all that follow. */
  places: readonly Place[];
  isVariadic: boolean;
};

const FREE: Place = { kind: "free" };
const OF_NAME: Readonly<Record<string, Place>> = {
  job: { kind: "ids", of: "jobs" },
  node: { kind: "ids", of: "nodes" },
  deployment: { kind: "ids", of: "deployments" },
  file: { kind: "files" },
  folder: { kind: "files" },
  path: { kind: "files" },
};

/** Every command that help shows, the program first. */
export function commandTree(program: Command): CommandNode[] {
  return nodesOf(program, "");
}

function nodesOf(command: Command, path: string): CommandNode[] {
  const help = command.createHelp();
  const visible = help.visibleCommands(command);
  const places = command.registeredArguments.map(placeOf);
  const node: CommandNode = {
    path,
    commands: visible.map((one) => one.name()),
    options: help.visibleOptions(command).map((option) => ({
      names: [option.short, option.long].filter((name) => name !== undefined),
      value: option.required || option.optional ? placeOf(option) : null,
    })),
    places,
    isVariadic: command.registeredArguments.at(-1)?.variadic === true,
  };
  // The command `help` of commander has no node: what follows it are the names beside it.
  const children = visible.filter((one) => command.commands.includes(one));
  return [
    node,
    ...children.flatMap((one) => nodesOf(one, path === "" ? one.name() : `${path} ${one.name()}`)),
  ];
}

function placeOf(of: Argument | Option): Place {
  if (of.argChoices !== undefined) return { kind: "words", words: of.argChoices };
  const name = "flags" in of ? (/[<[]([^\]>]+)/.exec(of.flags)?.[1] ?? "") : of.name();
  if (name.includes("|")) return { kind: "words", words: name.split("|") };
  return OF_NAME[name] ?? FREE;
}
