/**
 * Daemons that an engine starts once for all who use it: the file whose network came first started it, and files that run beside still need it. It ends
 * by itself with the last network.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { endProcess } from "./end-process.ts";
import type { ProcessSampler } from "./process-sampler.ts";

const NAME_SERVER = "the name server of all job networks (aardvark-dns)";
const GRACE_MS = 10_000;
const LOOK_MS = 250;

/** @param command of a process. @returns whose cost it is; null: of whoever started it */
export function sharedDaemonOf(command: string): string | null {
  return /^\S*\/aardvark-dns( |$)/.test(command) ? NAME_SERVER : null;
}

/** Once every file has ended. @returns what still runs, in words, for each daemon that some file kept alive */
export async function endSharedDaemons(sampler: ProcessSampler): Promise<string[]> {
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    sampler.look();
    const pids = sampler.costs.runningOf(NAME_SERVER);
    if (pids.length === 0) return [];
    if (waitedMs < GRACE_MS) {
      await sleep(LOOK_MS);
      continue;
    }
    return pids.map((pid) => `some file left a network: ${endProcess(pid)} still runs`);
  }
}
