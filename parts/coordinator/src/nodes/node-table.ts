import type { Inventory, RegisterRequest } from "@resontech/contracts/agent-protocol";
import type { Fence } from "@resontech/contracts/fence";
import type { WriteHandle } from "../db/open-database.ts";
import type { NodeState } from "@resontech/contracts/node-states";
import type { Changes } from "../kernel/changes.ts";
import type { NodeRow } from "../kernel/rows.ts";

/** Nodes and their workers. */
export class NodeTable {
  readonly #db: WriteHandle;
  readonly #changes: Changes;
  readonly #byId;
  readonly #byCertificate;

  constructor(db: WriteHandle, changes: Changes) {
    this.#db = db;
    this.#changes = changes;
    this.#byId = db.prepare<[string], NodeRow>("SELECT * FROM nodes WHERE id = ?");
    this.#byCertificate = db
      .prepare<[{ sha: string }], string>(
        `SELECT id FROM nodes WHERE state <> 'REVOKED' AND (certificate_sha256 = @sha
           OR next_certificate_sha256 = @sha AND next_certificate_after = certificate_sha256)`,
      )
      .pluck();
  }

  get(id: string): NodeRow | undefined {
    return this.#byId.get(id);
  }

  /** The node that this very certificate admits: its own, or the next one. */
  ofCertificate(sha256: string): string | null {
    return this.#byCertificate.get({ sha: sha256 }) ?? null;
  }

  /** The node's next certificate. An earlier next one that it never came with is void; its own is good until it has come with this one. */
  setNextCertificate(id: string, sha256: string): void {
    this.#db
      .prepare(
        "UPDATE nodes SET next_certificate_sha256 = ?, next_certificate_after = certificate_sha256 WHERE id = ?",
      )
      .run(sha256, id);
  }

  /** Whether it was the next one, which has taken the place of the one before. */
  takeNextCertificate(id: string, sha256: string): boolean {
    const { changes } = this.#db
      .prepare(
        `UPDATE nodes SET certificate_sha256 = next_certificate_sha256, next_certificate_sha256 = NULL,
           next_certificate_after = NULL, version = version + 1
         WHERE id = ? AND next_certificate_sha256 = ? AND next_certificate_after = certificate_sha256`,
      )
      .run(id, sha256);
    return changes === 1;
  }

  /** Nodes whose silence means something. */
  registered(): NodeRow[] {
    return this.#db
      .prepare<[], NodeRow>(
        "SELECT * FROM nodes WHERE state IN ('READY', 'SUSPECT', 'DEAD') ORDER BY id",
      )
      .all();
  }

  /**
   * A new node, or one that joins again: its older certificate is void from here on. Joining again is how an operator says that they
   * looked at it, so cordon and quarantines are lifted.
   */
  admit(id: string, certificateSha256: string, now: number): void {
    this.#db
      .prepare(
        `INSERT INTO nodes (id, state, version, certificate_sha256, joined_at, state_since) VALUES (@id, 'JOINED', 1, @sha, @now, @now)
         ON CONFLICT (id) DO UPDATE SET certificate_sha256 = @sha, joined_at = @now, version = version + 1,
           is_cordoned = 0, cordon_reason = NULL, flaps = '[]',
           state = CASE state WHEN 'REVOKED' THEN 'JOINED' ELSE state END`,
      )
      .run({ id, sha: certificateSha256, now });
    this.#db
      .prepare("UPDATE workers SET is_quarantined = 0, quarantine_reason = NULL WHERE node_id = ?")
      .run(id);
    this.#changes.note({ kind: "node-joined", node: id, state: this.get(id)!.state });
  }

  /** @param protocol the version that was agreed on */
  register(
    id: string,
    epoch: Fence,
    request: RegisterRequest,
    protocol: number,
    now: number,
  ): void {
    const { bridge } = request;
    this.#db
      .prepare(
        `UPDATE nodes SET generation = ?, counter = ?, boot_id = ?, agent_version = ?, inventory = ?, inventory_digest = NULL,
           bridge_address = ?, bridge_port_from = ?, bridge_port_to = ?, registered_at = ?, agent_protocol = ?, agent_protocol_at = ?,
           version = version + 1 WHERE id = ?`,
      )
      .run(
        ...[
          epoch.generation,
          epoch.counter,
          request.bootId,
          request.agentVersion,
          JSON.stringify(request.inventory),
        ],
        ...[bridge?.address ?? null, bridge?.ports.from ?? null, bridge?.ports.to ?? null],
        ...[now, protocol, now, id],
      );
    this.#workers(id, request.inventory);
    const workers = request.inventory.workers.length;
    this.#changes.note({
      kind: "node-registered",
      node: id,
      agentVersion: request.agentVersion,
      workers,
    });
  }

  move(node: NodeRow, to: NodeState, now: number): boolean {
    const { changes } = this.#db
      .prepare(
        "UPDATE nodes SET state = ?, state_since = ?, version = version + 1 WHERE id = ? AND version = ?",
      )
      .run(to, now, node.id, node.version);
    if (changes === 1) this.#changes.note({ kind: "node", node: node.id, from: node.state, to });
    return changes === 1;
  }

  /** Its certificate is void and its workers are gone; joining again makes it a node as before. */
  retire(node: NodeRow, now: number): void {
    this.move(node, "REVOKED", now);
    this.#db.prepare("UPDATE workers SET is_present = 0 WHERE node_id = ?").run(node.id);
  }

  setFlaps(id: string, flaps: readonly number[], cordonReason: string | null): void {
    this.#db
      .prepare(
        "UPDATE nodes SET flaps = ?, is_cordoned = is_cordoned OR ?, cordon_reason = coalesce(?, cordon_reason) WHERE id = ?",
      )
      .run(JSON.stringify(flaps), cordonReason === null ? 0 : 1, cordonReason, id);
    if (cordonReason !== null)
      this.#changes.note({ kind: "node-cordon", node: id, reason: cordonReason });
  }

  /** Takes the node out of placement for a reason, or back for null; what runs there runs on. */
  setCordon(id: string, reason: string | null): void {
    const { changes } = this.#db
      .prepare("UPDATE nodes SET is_cordoned = ?, cordon_reason = ?, flaps = '[]' WHERE id = ?")
      .run(reason === null ? 0 : 1, reason, id);
    if (changes === 1) this.#changes.note({ kind: "node-cordon", node: id, reason });
  }

  /** Of the first beat after a registration: a later one that differs tells of another inventory. */
  setInventoryDigest(id: string, digest: string): void {
    this.#db.prepare("UPDATE nodes SET inventory_digest = ? WHERE id = ?").run(digest, id);
  }

  setEpoch(id: string, epoch: Fence): void {
    this.#db
      .prepare("UPDATE nodes SET generation = ?, counter = ? WHERE id = ?")
      .run(epoch.generation, epoch.counter, id);
  }

  #workers(nodeId: string, { workers }: Inventory): void {
    this.#db.prepare("UPDATE workers SET is_present = 0 WHERE node_id = ?").run(nodeId);
    const upsert = this.#db.prepare(
      `INSERT INTO workers (id, node_id, kind, model, memory_bytes, vendor, architecture, driver, is_healthy, is_present)
       VALUES (@id, @nodeId, @kind, @model, @memoryBytes, @vendor, @architecture, @driver, @isHealthy, 1)
       ON CONFLICT (id) DO UPDATE SET kind = @kind, model = @model, memory_bytes = @memoryBytes, vendor = @vendor,
         architecture = @architecture, driver = @driver, is_healthy = @isHealthy, is_present = 1
       WHERE node_id = @nodeId`,
    );
    for (const { id, kind, model, memoryBytes, vendor, architecture, driver, healthy } of workers)
      upsert.run({
        id,
        nodeId,
        kind,
        model,
        memoryBytes,
        vendor: vendor ?? null,
        architecture: architecture ?? null,
        driver: driver ?? null,
        isHealthy: Number(healthy),
      });
  }
}
