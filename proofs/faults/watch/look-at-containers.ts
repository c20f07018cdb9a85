/** The thread of `LivingContainers`: looks at the host's own table of processes, five times a second, whatever else its proof waits for. */
import { readdirSync, readFileSync } from "node:fs";
import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import type { SeenContainers } from "./living-containers.ts";
import { StolenTime } from "../../bench/measure/stolen-time.ts";

const LOOK_MS = 200;
const TICKS_PER_S = 100;
/** `/rt/init`, as the kernel calls it. */
const FIRST_PROCESS = "init";

type Process = { comm: string; isOver: boolean; parent: number; bornAt: number };

const seen: SeenContainers = { containers: [], longestGapS: 0 };
const known = new Map<string, SeenContainers["containers"][number] | null>();
parentPort?.on("message", () => {
  parentPort?.postMessage(seen);
  seen.longestGapS = 0;
});
// Of this thread alone: what it looks for keeps the machine busy.
setPriority(-15);
for (let before = uptimeS(), stolen = new StolenTime(); ; await sleep(LOOK_MS)) {
  // Read before the processes are: whoever is found lived then.
  const now = uptimeS();
  // While its host keeps a virtual machine from running, nothing on it comes or goes.
  seen.longestGapS = Math.max(seen.longestGapS, (now - before) * (1 - stolen.share()));
  [before, stolen] = [now, new StolenTime()];
  look(now);
}

function look(now: number): void {
  for (const pid of readdirSync("/proc")) {
    const found = /^\d+$/.test(pid) ? read(pid) : null;
    if (found === null || found.comm !== FIRST_PROCESS || found.isOver) continue;
    const key = `${pid} ${found.bornAt}`;
    let container = known.get(key);
    if (container === undefined) {
      const name = containerOf(found.parent);
      container = name === null ? null : { name, from: found.bornAt, until: now };
      if (container !== null) seen.containers.push(container);
      known.set(key, container);
    }
    if (container !== null) container.until = now;
  }
}

/** The name comes in brackets and may hold any character. */
function read(pid: string): Process | null {
  const stat = textOf(`/proc/${pid}/stat`);
  const end = stat.lastIndexOf(")");
  if (end < 0) return null;
  const fields = stat.slice(end + 2).split(" ");
  return {
    comm: stat.slice(stat.indexOf("(") + 1, end),
    isOver: fields[0] === "Z" || fields[0] === "X",
    parent: Number(fields[1]),
    bornAt: Number(fields[19]) / TICKS_PER_S,
  };
}

/** The engine's monitor of a container is told its name. */
function containerOf(monitor: number): string | null {
  const args = textOf(`/proc/${monitor}/cmdline`).split("\0");
  const at = args.indexOf("-n");
  return at < 0 || args[0]?.endsWith("conmon") !== true ? null : (args[at + 1] ?? null);
}

function uptimeS(): number {
  return Number(textOf("/proc/uptime").split(" ")[0]);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // It has ended meanwhile.
  }
}
