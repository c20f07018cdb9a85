/** Monitors of commands that ran inside containers: Podman lets each go on for five minutes after its command, with a folder of the engine's open. */
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { identify, isAlive, signalProcess } from "@resontech/appliance/process-identity";

const GONE_MS = 5_000;
const LOOK_MS = 50;

/** Ends those whose bundle lies below the folder. Its containers are to be gone by then. */
export function endMonitors(folder: string): void {
  const found = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => isMonitorBelow(argumentsOf(pid), folder))
    .flatMap((pid) => identify(Number(pid)) ?? []);
  for (const { pid } of found) signalProcess(pid, "SIGKILL");
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (const end = Date.now() + GONE_MS; found.some(isAlive) && Date.now() < end; )
    Atomics.wait(clock, 0, 0, LOOK_MS);
}

/** @param words as the kernel shows them */
function isMonitorBelow(words: readonly string[], folder: string): boolean {
  const bundle = words[words.indexOf("-b") + 1] ?? "";
  return basename(words[0] ?? "") === "conmon" && bundle.startsWith(`${folder}/`);
}

/** Reads the arguments of a process; one that has just ended has none. */
function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}
