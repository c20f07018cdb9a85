/**
 * Ports that parts of this appliance hold. In a switch that was broken off no supervisor answers, and yet the door is open, or parts run on whose supervisor was
 * killed: whoever goes on with it takes them over.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { isAlive, readPidFile } from "@resontech/appliance/process-identity";

/** State of a listening socket, and where the fields are: man 5 proc_net. */
const LISTENS = "0A";

/** @param runFolder where each part has its pid file */
export function ownPorts(runFolder: string): ReadonlySet<number> {
  const sockets = new Set([...withChildren(partsOf(runFolder))].flatMap(socketsOf));
  const ports = ["tcp", "tcp6"].flatMap((table) =>
    linesOf(`/proc/net/${table}`)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode = ""]) => state === LISTENS && sockets.has(inode))
      .map(([, local = ""]) => Number.parseInt(local.split(":")[1] ?? "", 16)),
  );
  return new Set(ports);
}

function partsOf(runFolder: string): number[] {
  return namesIn(runFolder)
    .filter((name) => name.endsWith(".pid"))
    .map((name) => readPidFile(join(runFolder, name)))
    .flatMap((identity) => (identity !== null && isAlive(identity) ? [identity.pid] : []));
}

/** The front door listens by a worker of the process that was started. */
function withChildren(pids: readonly number[]): ReadonlySet<number> {
  const all = new Set(pids);
  if (all.size === 0) return all;
  const parents = namesIn("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: parentOf(name) }));
  for (let before = 0; before !== all.size; ) {
    before = all.size;
    for (const { pid, parent } of parents) if (all.has(parent)) all.add(pid);
  }
  return all;
}

function parentOf(pid: string): number {
  const [stat = ""] = linesOf(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

function socketsOf(pid: number): string[] {
  return namesIn(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.slice(1) ?? [];
    } catch {
      // It was closed meanwhile.
      return [];
    }
  });
}

/** None of what is gone by now. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}
