/** What the devices of a deployment's replicas do. */
import type { DeviceUse } from "@resontech/contracts/agent-protocol";
import type { ReadHandle } from "../db/open-database.ts";

export class ReplicaDevices {
  readonly #workers;
  readonly #uses: () => readonly DeviceUse[];

  /** @param uses of all nodes, as agents told last */
  constructor(read: ReadHandle, uses: () => readonly DeviceUse[]) {
    this.#workers = read
      .prepare<[string], string>(
        `SELECT leases.worker_id FROM leases JOIN members ON members.id = leases.member_id
         WHERE members.job_id = ? AND leases.released_at IS NULL AND members.state = 'RUNNING' AND members.is_ready = 1`,
      )
      .pluck();
    this.#uses = uses;
  }

  /** Mean of those that serve and that somebody measures, 0 to 1; null without one. */
  meanUse(deployment: string): number | null {
    const workers = new Set(this.#workers.all(deployment));
    if (workers.size === 0) return null;
    const shares = this.#uses()
      .filter(({ worker }) => workers.has(worker))
      .flatMap(({ utilizationPercent }) => utilizationPercent ?? []);
    if (shares.length === 0) return null;
    return shares.reduce((sum, percent) => sum + percent, 0) / shares.length / 100;
  }
}
