import { randomUUID } from "node:crypto";
import { SharedRun } from "@resontech/frame/shared-run";
import type { AuditGate, RecordEvent } from "../audit-ports.ts";
import { auditedOperation } from "../audited-operation.ts";
import { COORDINATOR_ACTOR } from "../authorization/in-the-log.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { WriteHandle } from "../db/open-database.ts";
import {
  collectable,
  type NeededVersion,
  type StoredVersion,
  type VersionRef,
} from "./decisions/collectable.ts";
import type { ObjectStore } from "./object-store.ts";
import { S3UnavailableError } from "./s3-transport.ts";

/** A version that was overwritten or deleted can be brought back for so long; a task that is just being judged has its inputs meanwhile. */
const KEPT_MS = 3_600_000;
const EVERY_MS = 15 * 60_000;
/** Of one bucket in one go; what is left waits for the next. */
const MAX_VERSIONS = 10_000;

/** Inputs of living jobs, files of the hub, models that their next attempt would go on from, and what jobs left; `0` follows `/`: everything below the folder. */
const NEEDED = `
  SELECT key, version_id AS versionId, 0 AS untilDeleted FROM jobs JOIN job_inputs ON job_id = jobs.id
    WHERE jobs.bucket = @bucket AND job_inputs.bucket IS NULL AND ended_at IS NULL
  UNION ALL SELECT key, version_id, 0 FROM job_inputs JOIN jobs ON jobs.id = job_id WHERE job_inputs.bucket = @bucket AND ended_at IS NULL
  UNION ALL SELECT key, version_id, 0 FROM hub_models JOIN hub_files ON model_id = id WHERE hub_models.bucket = @bucket
  UNION ALL SELECT 'hub/' || commit_id, ref_version, 0 FROM hub_models WHERE bucket = @bucket AND ref_version IS NOT NULL
  UNION ALL SELECT uploads.key, version_id, 0 FROM jobs
    JOIN uploads ON job_id = jobs.id AND uploads.key > 'ckpt/' || jobs.id || '/' AND uploads.key < 'ckpt/' || jobs.id || '0'
    WHERE jobs.bucket = @bucket AND ended_at IS NULL AND version_id IS NOT NULL
  UNION ALL SELECT job_outputs.key, version_id, 1 - is_hidden FROM jobs
    JOIN job_outputs ON job_outputs.job_id = jobs.id JOIN uploads ON uploads.id = upload_id
    WHERE jobs.bucket = @bucket AND version_id IS NOT NULL`;

export type CollectorParts = {
  db: WriteHandle;
  commit: GroupCommit;
  gate: AuditGate;
  record: RecordEvent;
  store: Pick<ObjectStore, "versions" | "remove">;
  now: () => number;
  onError: (error: unknown) => void;
};

export type Collected = { bucket: string; versions: number; bytes: number };

/** Old versions count in a bucket's quota; those that no living job needs are removed, and what was removed stands in the log. */
export class VersionCollector {
  readonly #parts: CollectorParts;
  readonly #rounds = new SharedRun<unknown>();

  constructor(parts: CollectorParts) {
    this.#parts = parts;
  }

  /** Until aborted. */
  run(signal: AbortSignal): void {
    const timer = setInterval(
      () => void this.#rounds.run(() => this.collect().catch(this.#parts.onError)),
      EVERY_MS,
    );
    signal.addEventListener("abort", () => clearInterval(timer), { once: true });
  }

  async idle(): Promise<void> {
    await this.#rounds.idle();
  }

  /** @returns what was removed, bucket by bucket; a bucket with nothing to remove is left out */
  async collect(keptMs: number = KEPT_MS): Promise<Collected[]> {
    const { db, onError } = this.#parts;
    const buckets = db
      .prepare<[], { name: string; log_id: string }>(
        "SELECT name, log_id FROM buckets ORDER BY name",
      )
      .all();
    const collected: Collected[] = [];
    for (const { name, log_id: logId } of buckets) {
      try {
        const found = await this.#collectBucket(name, logId, keptMs);
        if (found.versions > 0) collected.push(found);
      } catch (error) {
        // The next round looks again.
        onError(error);
      }
    }
    return collected;
  }

  async #collectBucket(bucket: string, logId: string, keptMs: number): Promise<Collected> {
    const { store, now } = this.#parts;
    const listed: StoredVersion[] = [];
    for await (const page of store.versions(bucket)) listed.push(...page);
    const old = collectable(listed, this.#needed(bucket), keptMs, now()).slice(0, MAX_VERSIONS);
    const bytes = old.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (old.length > 0) await this.#remove(bucket, logId, old, bytes);
    return { bucket, versions: old.length, bytes };
  }

  async #remove(
    bucket: string,
    logId: string,
    old: readonly StoredVersion[],
    bytes: number,
  ): Promise<void> {
    const draft = {
      ...({ type: "data.versions.collect", op: randomUUID(), actor: COORDINATOR_ACTOR } as const),
      object: { kind: "bucket", id: logId } as const,
      detail: { versions: old.length, bytes },
    };
    await auditedOperation(this.#parts, draft, [], failure, async () => {
      for (const { key, versionId } of old) {
        // A task that was accepted meanwhile keeps what it reads.
        if (!this.#isNeeded(bucket, { key, versionId }))
          await this.#parts.store.remove(bucket, key, versionId);
      }
    });
  }

  #needed(bucket: string): NeededVersion[] {
    const rows = this.#parts.db
      .prepare<[{ bucket: string }], VersionRef & { untilDeleted: number }>(NEEDED)
      .all({ bucket });
    return rows.map((row) => ({ ...row, untilDeleted: row.untilDeleted === 1 }));
  }

  #isNeeded(bucket: string, ref: VersionRef): boolean {
    const found = this.#parts.db
      .prepare<[VersionRef & { bucket: string }], number>(
        `SELECT 1 FROM (${NEEDED}) WHERE key = @key AND versionId = @versionId AND untilDeleted = 0 LIMIT 1`,
      )
      .pluck()
      .get({ bucket, ...ref });
    return found === 1;
  }
}

function failure(error: unknown): { phase: "failed"; code: string } {
  return {
    phase: "failed",
    code: error instanceof S3UnavailableError ? "storage_unavailable" : "internal_error",
  };
}
