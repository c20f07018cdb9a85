/**
 * Daemons that an engine starts once for all who use it: the file whose network came first started it, and files that run beside still need it. It ends
 * by itself with the last network.
 */
import { existsSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { endProcess } from "./end-process.ts";
import type { ProcessSampler } from "./process-sampler.ts";
import { commandOf } from "./read-processes.ts";

const NAME_SERVER = "the name server of all job networks (aardvark-dns)";
/** In its folder of networks. */
const OWN_FILE = "aardvark.pid";
const GRACE_MS = 10_000;
const LOOK_MS = 250;

/** @param command of a process. @returns whose cost it is; null: of whoever started it */
export function sharedDaemonOf(command: string): string | null {
  return /^\S*\/aardvark-dns( |$)/.test(command) ? NAME_SERVER : null;
}

/** Once every file has ended. @returns what still runs, in words, for each daemon that some file kept alive */
export async function endSharedDaemons(
  sampler: ProcessSampler,
  graceMs = GRACE_MS,
): Promise<string[]> {
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    sampler.look();
    const pids = sampler.costs.runningOf(NAME_SERVER);
    if (pids.length === 0) return [];
    if (waitedMs < graceMs) {
      await sleep(LOOK_MS);
      continue;
    }
    return pids
      .map((pid) => ({ hasNetwork: hasNetwork(commandOf(pid)), command: endProcess(pid) }))
      .filter((daemon) => daemon.hasNetwork)
      .map(({ command }) => `some file left a network: ${command} still runs`);
  }
}

/**
 * Whether a network is left that it names. Where the last two go at once it may miss the end of both, and stays without any: that is no file's fault.
 * @param command with `--config FOLDER`, where each network has a file; without it nobody can say, and it counts
 */
function hasNetwork(command: string): boolean {
  const folder = / --config (\S+)/.exec(command)?.[1];
  if (folder === undefined || !existsSync(folder)) return true;
  return readdirSync(folder).some((name) => name !== OWN_FILE);
}
