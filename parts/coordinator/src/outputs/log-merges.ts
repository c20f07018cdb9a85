import { createHash } from "node:crypto";
import type { GroupCommit } from "../db/group-commit.ts";
import type { KernelTables } from "../kernel/kernel-tables.ts";
import type { LogMerge } from "../kernel/log-merge-table.ts";
import type { ObjectStore, ObjectVersion } from "../storage/object-store.ts";
import { S3ResponseError } from "../storage/s3-transport.ts";
import type { VolumeSync } from "../storage/volume-sync.ts";
import {
  fenceOfChunk,
  logFolder,
  MAX_CHUNKS,
  type Merge,
  mergesOf,
} from "./decisions/log-chunks.ts";
import { retryWaitMs } from "./decisions/retry-wait.ts";

export type LogMergeParts = {
  commit: GroupCommit;
  tables: Pick<KernelTables, "clock" | "logMerges" | "members" | "records">;
  store: Pick<ObjectStore, "getRange" | "list" | "put" | "remove">;
  volume: Pick<VolumeSync, "durable">;
  onError: (error: unknown) => void;
};

/**
 * Parts of a log become one object once its member is over: each part counts in the user's quota with a least size, and a long run leaves thousands.
 * The merged part is on the disk and on record before the first of the parts goes. A crash in between is known by both lying there.
 */
export class LogMerges {
  readonly #parts: LogMergeParts;

  constructor(parts: LogMergeParts) {
    this.#parts = parts;
  }

  /** Makes those that are due; what fails is tried again later. */
  async makeDue(): Promise<void> {
    const { commit, onError, tables } = this.#parts;
    const { clock, logMerges } = tables;
    for (const due of logMerges.due(clock.now()))
      try {
        await this.#mergeLog(due);
        await commit.run(() => logMerges.done(due.memberId));
      } catch (error) {
        onError(error);
        const waitMs = retryWaitMs(due.attempts);
        await commit.run(() => logMerges.defer(due.memberId, clock.now() + waitMs)).catch(onError);
      }
  }

  async #mergeLog(due: LogMerge): Promise<void> {
    for (const merge of mergesOf(await this.#list(due))) {
      if (merge.merged === null) await this.#make(due, merge);
      // Its parts were all there when a crash came: nobody knows whether the entry was written.
      else if (merge.isWhole)
        await this.#record(due, merge, merge.merged, await this.#read(due, [merge.merged]));
      for (const { key, versionId } of merge.parts)
        await this.#parts.store.remove(due.bucket, key, versionId);
    }
  }

  /** @throws Error where somebody removed a part meanwhile: what was removed does not come back by the merged one */
  async #make(due: LogMerge, merge: Merge): Promise<void> {
    const { store, volume } = this.#parts;
    const bytes = await this.#read(due, merge.parts);
    const made = await store.put(due.bucket, merge.key, bytes, "application/octet-stream");
    const now = new Set((await this.#list(due)).map(({ versionId }) => versionId));
    if (!merge.parts.every(({ versionId }) => now.has(versionId))) {
      await store.remove(due.bucket, made.key, made.versionId);
      throw new Error(`parts of the log of ${due.memberId} were removed while they were merged`);
    }
    await volume.durable();
    await this.#record(due, merge, made, bytes);
  }

  async #record(due: LogMerge, merge: Merge, made: ObjectVersion, bytes: Buffer): Promise<void> {
    const { commit, tables } = this.#parts;
    const { members, records } = tables;
    await commit.run(() =>
      records.output(
        {
          ...{ job: due.jobId, member: due.memberId, node: members.get(due.memberId)!.node_id },
          ...{ bucket: due.bucket, key: made.key, fence: fenceOfChunk(made.key) },
          ...{ sizeBytes: made.sizeBytes, uploadId: null, isExport: false, by: "coordinator" },
          ...{
            sha256: createHash("sha256").update(bytes).digest("hex"),
            merged: merge.parts.length,
          },
        },
        false,
      ),
    );
  }

  /** Nothing where the bucket is gone. */
  async #list({ bucket, jobId, memberId }: LogMerge): Promise<ObjectVersion[]> {
    try {
      return await this.#parts.store.list(bucket, `${logFolder(jobId)}${memberId}-`, MAX_CHUNKS);
    } catch (error) {
      if (error instanceof S3ResponseError && error.status === 404) return [];
      throw error;
    }
  }

  async #read({ bucket }: LogMerge, versions: readonly ObjectVersion[]): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (const version of versions)
      if (version.sizeBytes > 0)
        parts.push(
          await this.#parts.store.getRange({ ...version, bucket }, 0, version.sizeBytes - 1),
        );
    return Buffer.concat(parts);
  }
}
