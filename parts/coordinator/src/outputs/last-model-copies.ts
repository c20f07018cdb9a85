import { randomUUID } from "node:crypto";
import { committer, joinKey } from "@resontech/audit/producer";
import { MODEL_CHECKPOINT } from "@resontech/contracts/model-output";
import type { AuditGate } from "../audit-ports.ts";
import { COORDINATOR_ACTOR } from "../authorization/in-the-log.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import { newId } from "../kernel/ids.ts";
import type { KernelTables } from "../kernel/kernel-tables.ts";
import type { LastModel } from "../kernel/last-model-table.ts";
import type { UploadRow } from "../kernel/output-table.ts";
import { type ByteRange, copyInParts } from "../storage/copy-in-parts.ts";
import type { ObjectStore, ObjectVersion } from "../storage/object-store.ts";
import { S3ResponseError } from "../storage/s3-transport.ts";
import type { VolumeSync } from "../storage/volume-sync.ts";
import { retryWaitMs } from "./decisions/retry-wait.ts";

export type LastModelParts = {
  commit: GroupCommit;
  tables: Pick<
    KernelTables,
    "changes" | "clock" | "commands" | "jobs" | "lastModels" | "members" | "outputs" | "records"
  >;
  gate: Pick<AuditGate, "fact">;
  store: ObjectStore;
  volume: Pick<VolumeSync, "durable">;
  onError: (error: unknown) => void;
};

/** The copy, and the upload that made it; none where an earlier try had made it. */
type MadeCopy = { version: ObjectVersion; uploadId: string | null };

/**
 * The last committed model of a job without success becomes an output, by the name that a success has: the engine copies it, no byte passes here.
 * Safe to repeat: a copy that stands already is known by its ETag, which is that of the same parts.
 */
export class LastModelCopies {
  readonly #parts: LastModelParts;

  constructor(parts: LastModelParts) {
    this.#parts = parts;
  }

  /** Makes those that are due; what fails is tried again later. */
  async makeDue(): Promise<void> {
    const { commit, tables, onError } = this.#parts;
    const { clock, lastModels } = tables;
    for (const model of lastModels.due(clock.now()))
      try {
        await this.#make(model);
      } catch (error) {
        onError(error);
        const waitMs = retryWaitMs(model.attempts);
        await commit.run(() => lastModels.defer(model.jobId, clock.now() + waitMs)).catch(onError);
      }
  }

  async #make(model: LastModel): Promise<void> {
    const { commit, tables, volume } = this.#parts;
    const source = tables.outputs.get(model.checkpointUpload);
    const job = tables.jobs.get(model.jobId);
    // Of nothing there is no range to copy, and no model in it.
    const isEmpty = source?.size_bytes === 0;
    if (source === undefined || job === undefined || source.version_id === null || isEmpty)
      return await commit.run(() => tables.lastModels.forget(model.jobId));
    const key = `${job.output_root}/${MODEL_CHECKPOINT}`;
    const copy = tables.lastModels.isFolderTaken(job.id)
      ? null
      : await this.#copy(model, source, key);
    if (copy !== null) await volume.durable();
    const isKept = await commit.run(() => this.#record(model, source, key, copy));
    if (!isKept && copy !== null)
      await this.#parts.store.remove(source.bucket, key, copy.version.versionId);
  }

  /** Null where the checkpoint or its bucket is gone. @throws AuditUnavailable */
  async #copy(model: LastModel, source: UploadRow, key: string): Promise<MadeCopy | null> {
    const { store } = this.#parts;
    const { bucket } = source;
    const current = await store.stat(bucket, key);
    if (current !== null && current.etag === source.etag)
      return { version: current, uploadId: null };
    const from = { key: source.key, versionId: source.version_id! };
    const ranges = Array.from({ length: source.part_count }, (_, at) => rangeOf(source, at + 1));
    try {
      return await copyInParts(
        store,
        { bucket, source: from, key, ranges },
        async (uploadId, complete) => {
          await this.#announce(model, source, key, uploadId);
          return { version: await complete(), uploadId };
        },
      );
    } catch (error) {
      if (error instanceof S3ResponseError && error.status === 404) return null;
      throw error;
    }
  }

  async #announce(
    { jobId }: LastModel,
    source: UploadRow,
    key: string,
    uploadId: string,
  ): Promise<void> {
    const commit = committer();
    await this.#parts.gate.fact(
      {
        ...{ type: "model.output.open", op: randomUUID(), actor: COORDINATOR_ACTOR },
        object: { kind: "object", id: commit("object.id", `${source.bucket}/${key}`) },
        detail: {
          ...{ job: jobId, member: source.member_id, bytes: source.size_bytes },
          ...{ parts: source.part_count, upload_sha256: joinKey(uploadId) },
        },
      },
      commit.disclosures,
    );
  }

  /** The checkpoint goes in any case. False where the copy must go as well: a later job of the folder began meanwhile, or somebody removed the outputs. */
  #record({ jobId }: LastModel, source: UploadRow, key: string, copy: MadeCopy | null): boolean {
    const { changes, clock, commands, jobs, lastModels, members, outputs, records } =
      this.#parts.tables;
    const job = jobs.get(jobId);
    const isWanted = lastModels.of(jobId) !== undefined && !lastModels.isFolderTaken(jobId);
    commands.removeVersion(source.id);
    if (copy === null || job === undefined || !isWanted) {
      lastModels.forget(jobId);
      return false;
    }
    const member = members.get(source.member_id)!;
    const upload: UploadRow = {
      ...source,
      ...{ id: newId("up"), key, s3_upload_id: null, etags: null },
      ...{ version_id: copy.version.versionId, etag: copy.version.etag },
      ...{ opened_at: clock.now(), closed_at: clock.now() },
    };
    outputs.insert(upload);
    outputs.keep(upload);
    lastModels.stored(jobId, upload.id);
    changes.note({
      ...{ kind: "output", job: jobId, member: member.id },
      ...{ key: MODEL_CHECKPOINT, sizeBytes: upload.size_bytes },
    });
    records.output(
      {
        ...{ job: jobId, member: member.id, node: member.node_id },
        ...{ bucket: upload.bucket, key, sizeBytes: upload.size_bytes, sha256: upload.sha256 },
        fence: { generation: upload.generation, counter: upload.counter },
        ...{ uploadId: copy.uploadId, isExport: false, by: "coordinator" },
      },
      true,
    );
    return true;
  }
}

function rangeOf(
  { part_size_bytes: size, part_count: count, size_bytes: whole }: UploadRow,
  number: number,
): ByteRange {
  const start = count === 1 ? 0 : (number - 1) * size;
  return { start, end: (count === 1 ? whole : Math.min(whole, number * size)) - 1 };
}
