/**
 * The end of a node's members whose agent beats no more, seen from outside: when their lease ended, by the very file that their first process
 * reads, when they were dead, and the exit code of each, which tells who ended them. A job that ends by itself is no such death.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bootTimeNs, toMs } from "@resontech/agent/boot-clock";
import { leaseFolder } from "@resontech/agent/lease-file";
import { isRunningProcess } from "../watch/is-running-process.ts";
import { type ContainerProcess, endedMembers } from "@resontech/house/member-containers";

/** KERNEL "Leases": all dead by then, counted from the last beat that was answered, which was before the agent fell silent. */
const DEAD_BY_S = 38;
/** What PID 1 says when the lease took its payload, and nobody else (`exitLeaseLost` in parts/agent/init). */
const EXIT_LEASE_LOST = 75;
const LOOK_MS = 20;
/** The engine's monitor notes an end; on a busy host, a while after it. */
const END_KNOWN_MS = 15_000;

/** Its container engine, and the name of its agent's instance. */
type Node = { socket: string; instance: string };

export type LeaseDeath = {
  leaseEndsAfterS: number;
  deadAfterS: number;
  exitCodes: (number | null)[];
};

/**
 * @param members first processes of the containers that run on the node
 * @param from wall clock at which the agent fell silent: the lease is its last by now
 * @param limitMs after which those that still live are not waited for
 */
export async function untilDead(
  { socket, instance }: Node,
  members: readonly ContainerProcess[],
  from: number,
  limitMs: number,
): Promise<LeaseDeath> {
  const leaseEndsAt = toMs(
    BigInt(readFileSync(join(leaseFolder(instance), "lease"), "utf8").trim()),
  );
  const leaseEndsAfterMs = Date.now() - from + leaseEndsAt - toMs(bootTimeNs());
  while (members.some(({ pid }) => isRunningProcess(pid)) && Date.now() - from < limitMs)
    await sleep(LOOK_MS);
  const deadAfterMs = Date.now() - from;
  const codes = (): (number | null)[] => {
    const ended = endedMembers(socket);
    return members.map(({ name }) => ended[name] ?? null);
  };
  let exitCodes = codes();
  for (
    const since = Date.now();
    exitCodes.includes(null) && Date.now() - since < END_KNOWN_MS;
    exitCodes = codes()
  )
    await sleep(LOOK_MS * 10);
  return {
    leaseEndsAfterS: inSeconds(leaseEndsAfterMs),
    deadAfterS: inSeconds(deadAfterMs),
    exitCodes,
  };
}

/** Whether it was the lease that ended so many members: not before it was over, and not late. */
export function isByLease(
  { leaseEndsAfterS, deadAfterS, exitCodes }: LeaseDeath,
  members: number,
): boolean {
  return (
    exitCodes.length === members &&
    exitCodes.every((code) => code === EXIT_LEASE_LOST) &&
    deadAfterS >= leaseEndsAfterS &&
    deadAfterS <= DEAD_BY_S
  );
}

/** The clock since boot is read in steps of 10 ms: not a tenth of a second is claimed that was not there. */
function inSeconds(ms: number): number {
  return Math.floor(ms / 100) / 10;
}
