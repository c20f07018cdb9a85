import type { DeviceUse } from "@resontech/contracts/agent-protocol";
import { type DeviceReading, devicePoints } from "@resontech/contracts/device-curves";
import type { WriteHandle } from "../db/open-database.ts";
import type { KernelTables } from "./kernel-tables.ts";

/** A beat names the age of what it tells: the same reading, told again, seems so much older or younger. */
const SAME_MS = 1_000;

/** What was told longer ago says nothing of now. */
const FRESH_MS = 60_000;

type Holder = { member: string; job: string; attempt: string; site: string };

/** What devices do while a member holds them: kept as curves of its job, and told. */
export class DeviceUses {
  readonly #tables: Pick<KernelTables, "curves" | "changes" | "clock">;
  readonly #holder;
  /** When the last reading was made that was taken, by worker, on the monotonic clock. */
  readonly #taken = new Map<string, number>();
  /** How busy a worker's device was by then. */
  readonly #percents = new Map<string, number | null>();

  constructor(db: WriteHandle, tables: Pick<KernelTables, "curves" | "changes" | "clock">) {
    this.#tables = tables;
    this.#holder = db.prepare<[string], Holder>(
      `SELECT members.id AS member, members.job_id AS job, attempt_id AS attempt, coalesce(site, role) AS site
       FROM leases JOIN members ON members.id = member_id
       WHERE leases.worker_id = ? AND released_at IS NULL AND members.state IN ('RUNNING', 'DRAINING')`,
    );
  }

  /** Whether {@link take} would write. */
  hasNews(node: string, devices: readonly DeviceUse[]): boolean {
    return this.#news(node, devices).length > 0;
  }

  /** How busy the worker's device is; null where nobody has said so lately. */
  percentOf(worker: string): number | null {
    const at = this.#taken.get(worker) ?? Number.NEGATIVE_INFINITY;
    if (this.#tables.clock.monotonic() - at > FRESH_MS) return null;
    return this.#percents.get(worker) ?? null;
  }

  /** Inside a transaction. */
  take(node: string, devices: readonly DeviceUse[]): void {
    const { curves, changes, clock } = this.#tables;
    for (const { use, holder } of this.#news(node, devices)) {
      const { worker, ageMs } = use;
      this.#taken.set(worker, clock.monotonic() - ageMs);
      this.#percents.set(worker, use.utilizationPercent ?? null);
      const at = clock.now() - ageMs;
      const reading: DeviceReading = {
        ...{ worker, memoryBytes: use.memoryInUseBytes },
        usePercent: use.utilizationPercent ?? null,
        watts: use.powerWatts ?? null,
      };
      const { job, site, member } = holder;
      const { began, lines } = curves.noteLine(job, "devices", null, at);
      for (const [name, value] of devicePoints(reading))
        curves.add(job, "devices", {
          ...{ site, name, axis: "seconds", value },
          place: Math.max(0, at - began) / 1000,
        });
      changes.note({ kind: "device-use", job, member, site, number: lines, ...reading });
    }
  }

  /** Of devices of this node's own that a member holds, what was not taken yet. */
  #news(node: string, devices: readonly DeviceUse[]): { use: DeviceUse; holder: Holder }[] {
    return devices.flatMap((use) => {
      const madeAt = this.#tables.clock.monotonic() - use.ageMs;
      const last = this.#taken.get(use.worker) ?? Number.NEGATIVE_INFINITY;
      if (madeAt - last < SAME_MS || !isOfNode(use.worker, node)) return [];
      const holder = this.#holder.get(use.worker);
      return holder === undefined ? [] : [{ use, holder }];
    });
  }
}

/** Workers are named after their node, `<node>-<n>`: no node tells of another's. */
function isOfNode(worker: string, node: string): boolean {
  return worker.startsWith(`${node}-`) && /^\d+$/.test(worker.slice(node.length + 1));
}
