import type { WriteHandle } from "../db/open-database.ts";
import type { GateProof } from "../audit-ports.ts";

export type Command = { seq: number; attempts: number } & (
  | { kind: "hint"; nodeId: string }
  | { kind: "abort-upload" | "remove-version" | "hide-output"; uploadId: string }
);

type OutboxRow = {
  seq: number;
  kind: Command["kind"];
  node_id: string | null;
  upload_id: string | null;
  attempts: number;
};

/** Commands to the world outside, decided and stored in one transaction, carried out after it, safe to repeat. */
export class CommandOutbox {
  readonly #hint;
  readonly #onUpload;
  readonly #due;
  readonly #done;
  readonly #defer;
  readonly #bumpDesired;
  readonly #now: () => number;

  constructor(db: WriteHandle, now: () => number) {
    this.#now = now;
    this.#hint = db.prepare(
      "INSERT INTO outbox (kind, node_id, audit_op, audit_index, audit_leaf, created_at) VALUES ('hint', ?, ?, ?, ?, ?)",
    );
    this.#onUpload = db.prepare(
      "INSERT INTO outbox (kind, upload_id, created_at) VALUES (?, ?, ?)",
    );
    this.#due = db.prepare<[string, number], OutboxRow>(
      "SELECT seq, kind, node_id, upload_id, attempts FROM outbox WHERE kind = ? AND not_before <= ? ORDER BY seq LIMIT 1000",
    );
    this.#done = db.prepare("DELETE FROM outbox WHERE seq = ?");
    this.#defer = db.prepare(
      "UPDATE outbox SET attempts = attempts + 1, not_before = ? WHERE seq = ?",
    );
    this.#bumpDesired = db.prepare(
      "UPDATE nodes SET desired_version = desired_version + 1 WHERE id = ?",
    );
  }

  /** The node's desired set changed: its version moves and its agent is told. `gate` is the request that this carries out. */
  desiredChanged(nodeId: string, gate: GateProof | null = null): void {
    this.#bumpDesired.run(nodeId);
    this.#hint.run(
      nodeId,
      gate?.op ?? null,
      gate?.index ?? null,
      gate?.leafHash ?? null,
      this.#now(),
    );
  }

  abortUpload(uploadId: string): void {
    this.#onUpload.run("abort-upload", uploadId, this.#now());
  }

  /** The object that this upload made is not needed any more. */
  removeVersion(uploadId: string): void {
    this.#onUpload.run("remove-version", uploadId, this.#now());
  }

  /** What this upload made is an earlier job's: no listing shows it any more, its version stays. */
  hideOutput(uploadId: string): void {
    this.#onUpload.run("hide-output", uploadId, this.#now());
  }

  due(kind: Command["kind"]): Command[] {
    return this.#due.all(kind, this.#now()).map((row) => ({
      seq: row.seq,
      attempts: row.attempts,
      ...(row.kind === "hint"
        ? { kind: row.kind, nodeId: row.node_id! }
        : { kind: row.kind, uploadId: row.upload_id! }),
    }));
  }

  done(seq: number): void {
    this.#done.run(seq);
  }

  defer(seq: number, untilMs: number): void {
    this.#defer.run(untilMs, seq);
  }
}
