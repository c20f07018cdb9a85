import type { ReadHandle } from "../db/open-database.ts";
import type { MemberOnNode } from "../kernel/told-uses.ts";

export type DeviceHolder = MemberOnNode & { worker: string };

/** Which member holds which accelerator now. */
export class DeviceHolders {
  readonly #held;

  constructor(read: ReadHandle) {
    this.#held = read.prepare<[], DeviceHolder>(
      `SELECT members.job_id AS job, CAST(attempts.number AS TEXT) AS attempt, members.id AS member, coalesce(site, role) AS site,
         workers.node_id AS node, workers.id AS worker
       FROM leases JOIN members ON members.id = leases.member_id JOIN attempts ON attempts.id = attempt_id
         JOIN workers ON workers.id = leases.worker_id
       WHERE released_at IS NULL AND members.state IN ('RUNNING', 'DRAINING') AND workers.kind = 'gpu'`,
    );
  }

  all(): DeviceHolder[] {
    return this.#held.all();
  }
}
