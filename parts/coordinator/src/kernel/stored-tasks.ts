import type { JobImage } from "@resontech/contracts/coordinator-config";
import { ASKED_CLASSES } from "@resontech/contracts/http-tasks";
import type { ReadHandle } from "../db/open-database.ts";
import type { AcceptedInput, AcceptedTask, WorkerSelection } from "./accepted-task.ts";
import { shownKind } from "./decisions/stored-kind.ts";
import { imagesOf, memberImageOf } from "./job-images.ts";
import type { JobRow } from "./rows.ts";

/** What a job was made of, but for who asked. */
export type StoredTask = Omit<
  AcceptedTask,
  "userId" | "projectId" | "after" | "audit" | "idempotency"
>;

/** Tasks as jobs keep them: as long as the job's row stands. */
export class StoredTasks {
  readonly #job;
  readonly #inputs;

  constructor(db: ReadHandle) {
    this.#job = db.prepare<[string], JobRow>("SELECT * FROM jobs WHERE id = ?");
    // Shards stand in the order of their sites; the others in any.
    this.#inputs = db.prepare<[string], AcceptedInput>(
      `SELECT kind, bucket, key, version_id AS versionId, etag, size_bytes AS sizeBytes, sha256, target
       FROM job_inputs WHERE job_id = ? ORDER BY shard_index, key`,
    );
  }

  /** Null where there is no such job. */
  of(jobId: string): StoredTask | null {
    const row = this.#job.get(jobId);
    if (row === undefined) return null;
    const image = JSON.parse(row.image) as JobImage;
    return {
      ...{
        kind: shownKind(row.kind),
        spec: row.spec === null ? null : (JSON.parse(row.spec) as object),
      },
      ...{ name: row.name, slug: row.slug, bucket: row.bucket, outputRoot: row.output_root },
      inputs: this.#inputs.all(jobId),
      selection: JSON.parse(row.selection) as WorkerSelection,
      onlyMine: row.only_mine === 1,
      ...{ estimatedMemoryMb: row.estimated_memory_mb, timeLimitMs: row.time_limit_ms },
      jobClass: ASKED_CLASSES.find((one) => one === row.job_class) ?? null,
      isPreemptible: row.is_preemptible === null ? null : row.is_preemptible === 1,
      ...{ image, images: imagesOf(row) ?? [memberImageOf(image)] },
      ...{ numRounds: row.num_rounds, firstRound: row.first_round, minClients: row.min_clients },
      ...{ resumable: row.resumable === 1, pool: row.pool },
      warnings: JSON.parse(row.warnings) as string[],
      shardUncompressedBytes: JSON.parse(row.shard_uncompressed_bytes) as number[],
    };
  }
}
