/** Commands in documents that the programs do not have. Pure: from the programs' own tables. */
import type { Finding } from "./finding.ts";
import { readMarkdown } from "./markdown.ts";

/** A program or one of its commands. `options`: each form, such as `--yes` and `-y`, and whether a value follows. */
export type CommandTable = {
  options: ReadonlyMap<string, boolean>;
  subcommands: ReadonlyMap<string, CommandTable>;
  /** Words that may stand here, where there is a closed list of them. */
  words?: ReadonlySet<string>;
};

export type Programs = {
  /** By the words that begin a command line: `appliance`, `sh install.sh`, `npm run prove --`. */
  tables: ReadonlyMap<string, CommandTable>;
  /** Scripts of package.json. */
  scripts: ReadonlySet<string>;
};

/** `--help` goes with everything. */
const ALWAYS: ReadonlySet<string> = new Set(["--help", "-h"]);
const SHELL_END = /\s(?:&&|\|\||[|;>#])\s/;

export function unknownCommands(document: string, markdown: string, programs: Programs): Finding[] {
  const options = new Set([...programs.tables.values()].flatMap(optionsBelow));
  return readMarkdown(markdown).code.flatMap(({ line, text, isInline }) => {
    const faults = text.split(SHELL_END).flatMap((part) => faultOf(part, programs) ?? []);
    if (isInline && /^--[a-z]/.test(text)) {
      const option = optionOf(text.split(/\s/)[0] ?? "");
      if (!options.has(option) && !ALWAYS.has(option))
        faults.push(`no program of ours has the option ${option}`);
    }
    return faults.map((what): Finding => ({ document, line, what }));
  });
}

/** Null for a line that begins with no program of ours. */
function faultOf(line: string, { tables, scripts }: Programs): string | null {
  const command = line.trim().replace(/^[$#] /, "");
  const script = /^npm run (?:-s )?([a-z:-]+)/.exec(command)?.[1];
  if (script !== undefined && !scripts.has(script)) return `package.json has no script ${script}`;
  const plain = command
    .replace(/^(?:sudo )?(?:\S*\/)?(?=(?:appliance|resontech) )/, "")
    .replace(/^(node|sh) \S*\/(?=\S)/, "$1 ");
  const name = [...tables.keys()]
    .filter((key) => plain === key || plain.startsWith(`${key} `))
    .sort((a, b) => b.length - a.length)[0];
  const table = name === undefined ? undefined : tables.get(name);
  return name === undefined || table === undefined
    ? null
    : walk(name, table, plain.slice(name.length).trim().split(/\s+/));
}

function walk(name: string, program: CommandTable, words: readonly string[]): string | null {
  let [at, path] = [program, name];
  const known = new Map([...program.options]);
  let isValue = false;
  let isDescending = true;
  for (const raw of words) {
    const word = raw.replaceAll(/[[\]'"]/g, "");
    if (word === "" || word === "·" || isPlaceholder(word)) {
      isValue = false;
      if (isPlaceholder(word)) isDescending = false;
      continue;
    }
    if (/^-{1,2}[a-z]/.test(word)) {
      const option = optionOf(word);
      if (!known.has(option) && !ALWAYS.has(option)) return `${path} has no option ${option}`;
      isValue = known.get(option) === true && !word.includes("=");
      continue;
    }
    if (isValue) {
      isValue = false;
      continue;
    }
    if (!isDescending) continue;
    const next = at.subcommands.get(word);
    if (next !== undefined) {
      [at, path] = [next, `${path} ${word}`];
      for (const [option, hasValue] of at.options) known.set(option, hasValue);
    } else if (at.subcommands.size > 0) return `${path} has no command ${word}`;
    else if (at.words !== undefined && !at.words.has(word)) return `${path} knows no ${word}`;
    else isDescending = false;
  }
  return null;
}

/** `NAME`, `<dir>`, `…`: what the reader puts something of his own for. */
function isPlaceholder(word: string): boolean {
  return /^<.*>$/.test(word) || word.includes("…") || /^[A-Z][A-Z0-9_.]*…?$/.test(word);
}

function optionOf(word: string): string {
  return word.replace(/=.*$/, "").replace(/[,.]$/, "");
}

function optionsBelow(table: CommandTable): string[] {
  return [...table.options.keys(), ...[...table.subcommands.values()].flatMap(optionsBelow)];
}
