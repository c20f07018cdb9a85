import { ApiError } from "../api-error.ts";
import type { WriteHandle } from "../db/open-database.ts";
import type { Clock } from "../kernel/clock.ts";
import type { PlacementSignal } from "../kernel/placement-signal.ts";
import type { Transitions } from "../kernel/transitions.ts";
import type { NodeTable } from "./node-table.ts";

type Held = { id: string; job_id: string; reason: string | null };

export type RemovalParts = {
  db: WriteHandle;
  clock: Clock;
  nodes: NodeTable;
  transitions: Transitions;
  placementSignal: PlacementSignal;
};

/**
 * How a node leaves the register. Its jobs go first, or the node is dead: then its lease has run out, and nothing runs there under any authority.
 * What writes runs inside a transaction.
 */
export class NodeRemoval {
  readonly #parts: RemovalParts;

  constructor(parts: RemovalParts) {
    this.#parts = parts;
  }

  /**
   * Withdraws the authority of members that have not ended: the node stops them and proves it, and their jobs go on elsewhere. Those that give their
   * outputs away may do so. It costs those jobs no retry.
   */
  evict(node: string): void {
    const { placementSignal, transitions } = this.#parts;
    const held = this.#membersOn(node, "'LEASED', 'STARTING', 'RUNNING'");
    for (const { id, reason } of held)
      transitions.revoke(id, reason === null ? { reason: "node_removed" } : {});
    for (const jobId of new Set(held.map(({ job_id }) => job_id))) transitions.reconcile(jobId);
    placementSignal.raise("node-evicted");
  }

  /**
   * Voids the node's certificate and every token that would admit it. It may join again with a new one.
   * @throws ApiError `node_busy` while it lives and holds something
   */
  remove(id: string): void {
    const { db, clock, nodes, transitions } = this.#parts;
    const node = nodes.get(id);
    if (node === undefined || node.state === "REVOKED")
      throw new ApiError("not_found", `there is no node ${id}`);
    const held = this.#membersOn(
      id,
      "'LEASED', 'STARTING', 'RUNNING', 'DRAINING', 'RELEASING', 'LOST', 'FENCED'",
    );
    if (node.state !== "DEAD" && held.length > 0)
      throw new ApiError("node_busy", `${held.length} members hold something on ${id}`);
    const now = clock.now();
    nodes.retire(node, now);
    db.prepare("UPDATE join_tokens SET used_at = ? WHERE node_id = ? AND used_at IS NULL").run(
      now,
      id,
    );
    // Nobody will prove their release any more.
    for (const member of held) transitions.moveMember(member.id, "quarantine");
    for (const jobId of new Set(held.map(({ job_id }) => job_id))) transitions.reconcile(jobId);
  }

  #membersOn(node: string, states: string): Held[] {
    return this.#parts.db
      .prepare<[string], Held>(
        `SELECT id, job_id, reason FROM members WHERE node_id = ? AND state IN (${states})`,
      )
      .all(node);
  }
}
