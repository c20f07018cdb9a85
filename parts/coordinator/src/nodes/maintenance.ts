import { setTimeout as sleep } from "node:timers/promises";
import { MAX_MAINTENANCE_S } from "@resontech/contracts/operator-appliance";
import type { GroupCommit } from "../db/group-commit.ts";
import type { Meta } from "../db/meta.ts";
import type { Clock } from "../kernel/clock.ts";
import { LIVENESS } from "../kernel/decisions/liveness.ts";
import type { Heartbeats } from "../kernel/heartbeats.ts";
import type { NodeTable } from "./node-table.ts";

/** A node beats at the latest after six seconds, asked or not. */
const TOLD_WITHIN_MS = 8_000;
const LOOK_MS = 50;

export type MaintenanceParts = {
  commit: GroupCommit;
  clock: Clock;
  meta: Meta;
  nodes: NodeTable;
  heartbeats: Heartbeats;
};

/** `until` in Unix milliseconds; null when no stop is planned any more. `untold` are living nodes that have not heard of it. */
export type MaintenanceReply = { until: number | null; untold: string[] };

/**
 * Announces a planned stop: every answer from here on grants a lease that lives until its end, so that agents run on without us.
 * Resolves once every living node was answered, or could not be: what is stopped earlier would stop their work.
 *
 * @param forS at most 15 minutes; 0 ends it, leases are short again
 * @param askForBeats tells every agent to beat at once
 */
export async function planStop(
  parts: MaintenanceParts,
  forS: number,
  askForBeats: () => void,
): Promise<MaintenanceReply> {
  const { commit, clock, meta, nodes, heartbeats } = parts;
  const until = forS === 0 ? null : clock.now() + Math.min(forS, MAX_MAINTENANCE_S) * 1000;
  await commit.run(() => {
    meta.set("maintenance-until", until ?? 0);
    // Ending the stop takes no lease back from a node that hears nothing of it.
    if (until !== null) meta.set("leases-until", Math.max(until, meta.number("leases-until")));
  });
  const decidedAt = clock.monotonic();
  askForBeats();
  const untold = (): string[] =>
    nodes
      .registered()
      .filter(({ id, state }) => state !== "DEAD" && !heartbeats.isHeardSince(id, decidedAt))
      .map(({ id }) => id);
  if (until === null) return { until, untold: [] };
  while (untold().length > 0 && clock.monotonic() - decidedAt < TOLD_WITHIN_MS)
    await sleep(LOOK_MS);
  return { until, untold: untold() };
}

/** The lease that an answer grants now, in milliseconds. */
export function leaseMsNow(meta: Meta, clock: Clock): number {
  return leaseMsUntil(meta.number("maintenance-until"), clock);
}

/** The longest lease that a node may still hold of which this process has heard nothing yet, in milliseconds. */
export function longestLeaseMs(meta: Meta, clock: Clock): number {
  return leaseMsUntil(meta.number("leases-until"), clock);
}

function leaseMsUntil(until: number, clock: Clock): number {
  return Math.max(LIVENESS.leaseMs, Math.min(until - clock.now(), MAX_MAINTENANCE_S * 1000));
}
