/** `resontech completion`: what a shell asks when somebody presses Tab. */
import type { Command } from "commander";
import { getJson } from "../api-client.ts";
import { readDeployments } from "../infer/read-deployments.ts";
import { readJobs } from "../jobs/read-jobs.ts";
import { printable } from "../printable.ts";
import { type Settings, settingsFrom } from "../settings.ts";
import { commandTree } from "./command-tree.ts";
import { SHELLS, shellScript } from "./shell-script.ts";

/** Whoever pressed Tab waits. */
const WITHIN_MS = 1_500;
const MOST = 50;

type Id = { id: string; words: string };
const IDS: Readonly<Record<string, (settings: Settings) => Promise<Id[]>>> = {
  jobs: async (settings) =>
    (await readJobs(settings, {}, MOST)).jobs.map(({ id, name, state }) => ({
      ...{ id, words: `${name}  ${state}` },
    })),
  deployments: async (settings) =>
    (await readDeployments(settings, {}, MOST)).deployments.map(({ id, name, state }) => ({
      ...{ id, words: `${name}  ${state}` },
    })),
  nodes: async (settings) =>
    (await getJson(settings, "/api/nodes")).map(({ node, state }) => ({
      ...{ id: node, words: state },
    })),
};

export function addCompletionCommands(program: Command): void {
  const completion = program
    .command("completion")
    .description("words for Tab in bash or zsh, job ids among them")
    .addHelpText(
      "after",
      '\nExamples:\n  eval "$(resontech completion bash)"\n  resontech completion zsh > ~/.zfunc/_resontech',
    );
  for (const shell of SHELLS)
    completion
      .command(shell)
      .description(`a script that ${shell} loads`)
      .action(() => {
        process.stdout.write(shellScript(shell, commandTree(program)));
      });
  completion
    .command("ids <of> [beginning]", { hidden: true })
    .description("what those scripts ask")
    .action(printIds);
}

/**
 * Ids that begin so, or whose names do, a line each with words for a person. Nothing where they can't be had soon: a Tab is no place for an error.
 * It renews no sign-in: a renewal that is cut short would end it.
 */
async function printIds(of: string, beginning = ""): Promise<void> {
  const limit = setTimeout(() => process.exit(0), WITHIN_MS);
  try {
    const found = (await IDS[of]?.(settingsFrom(process.env, { isRenewed: false }))) ?? [];
    const asked = beginning.toLowerCase();
    for (const { id, words } of found)
      if (id.startsWith(beginning) || words.toLowerCase().startsWith(asked))
        process.stdout.write(`${id}\t${printable(words).replaceAll(/[\t\n]/g, " ")}\n`);
  } catch {
    // Said nowhere: see above.
  }
  clearTimeout(limit);
}
