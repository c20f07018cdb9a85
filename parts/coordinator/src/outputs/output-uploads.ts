import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type {
  OutputCompleteReply,
  OutputCompleteRequest,
  OutputOpenReply,
  OutputOpenRequest,
  OutputPartsReply,
  OutputPartsRequest,
} from "@resontech/contracts/agent-protocol";
import { compareFences, type Fence } from "@resontech/contracts/fence";
import { isTerminal } from "@resontech/contracts/job-states";
import { committer, joinKey } from "@resontech/audit/producer";
import type { AuditGate } from "../audit-ports.ts";
import { actorOf } from "../authorization/in-the-log.ts";
import type { NodeCaller } from "../authorization/caller.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import { isMemberOver, mayMemberWrite } from "../kernel/decisions/member-machine.ts";
import { newId } from "../kernel/ids.ts";
import type { MemberRow } from "../kernel/rows.ts";
import type { KernelTables } from "../kernel/kernel-tables.ts";
import type { Transitions } from "../kernel/transitions.ts";
import { AgentRefusal } from "../kernel/agent-refusal.ts";
import type { Registry } from "../nodes/registry.ts";
import {
  type CompletedVersion,
  CompletionUnderWay,
  type ObjectStore,
} from "../storage/object-store.ts";
import { S3ResponseError } from "../storage/s3-transport.ts";
import type { VolumeSync } from "../storage/volume-sync.ts";
import { multipartEtag } from "./decisions/multipart-etag.ts";
import { isSiteFile, outputKey } from "./decisions/output-key.ts";
import { completionLimitMs, partPlan, urlLifeS } from "./decisions/part-plan.ts";
import type { OutputTable, UploadRow } from "../kernel/output-table.ts";

/** HOSTED-API "Bucket layout". */
const FOLDER_OF_MODELS = "model_out";

/** An agent waits 10 s for an answer. */
const ANSWER_MS = 8_000;
const LOOK_AGAIN_MS = 1_000;

export type OutputParts = {
  commit: GroupCommit;
  gate: AuditGate;
  tables: Pick<KernelTables, "changes" | "clock" | "commands" | "jobs" | "members" | "records">;
  transitions: Transitions;
  outputs: OutputTable;
  registry: Registry;
  store: ObjectStore;
  volume: Pick<VolumeSync, "durable">;
};

/**
 * Outputs, each a multipart that the coordinator creates, presigns by part and completes itself. A fence is checked in the
 * transaction that opens an upload, in the one that names it, and in the one that decides to complete it: a member whose
 * authority was withdrawn in between can finish nothing.
 */
export class OutputUploads {
  readonly #parts: OutputParts;
  readonly #completing = new Map<string, Promise<OutputCompleteReply>>();
  readonly #closed = new AbortController();

  constructor(parts: OutputParts) {
    this.#parts = parts;
    // One listener for each completion under way.
    setMaxListeners(0, this.#closed.signal);
  }

  /** @throws AgentRefusal `stale_fence`, `not_allowed`; AuditUnavailable */
  async open(caller: NodeCaller, request: OutputOpenRequest): Promise<OutputOpenReply> {
    const { commit, outputs, store, tables, transitions } = this.#parts;
    const parts = partPlan(request.sizeBytes);
    if (parts === null)
      throw new AgentRefusal(
        "not_allowed",
        `${request.sizeBytes} bytes are more than an object can hold`,
      );
    const upload = await commit.run(() => this.#insert(caller, request, parts));
    const s3UploadId = await store.createUpload(
      upload.bucket,
      upload.key,
      "application/octet-stream",
    );
    try {
      await this.#logUrls(
        caller,
        { ...upload, s3_upload_id: s3UploadId },
        { parts: upload.part_count },
      );
    } catch (error) {
      // Nobody was given a URL; the store takes the upload back, now or when it can.
      await commit.run(() => {
        const { clock, commands } = tables;
        if (
          outputs.move(upload.id, "OPEN", "ABORTED", {
            s3_upload_id: s3UploadId,
            closed_at: clock.now(),
          })
        )
          commands.abortUpload(upload.id);
      });
      throw error;
    }
    const isCurrent = await commit.run(() => {
      const moved = outputs.move(upload.id, "OPEN", "OPEN", { s3_upload_id: s3UploadId });
      if (moved) transitions.progress(tables.members.get(upload.member_id)!);
      return moved;
    });
    if (!isCurrent) {
      await store.abortUpload(upload.bucket, upload.key, s3UploadId);
      throw new AgentRefusal("stale_fence", `member ${upload.member_id} lost its fence`);
    }
    const numbers = Array.from({ length: parts.partCount }, (_, at) => at + 1);
    return {
      upload: upload.id,
      partSizeBytes: parts.partSizeBytes,
      urls: await this.#presign({ ...upload, s3_upload_id: s3UploadId }, numbers),
    };
  }

  /** Fresh URLs; asking is a sign of life. @throws AgentRefusal; AuditUnavailable */
  async parts(caller: NodeCaller, request: OutputPartsRequest): Promise<OutputPartsReply> {
    const { commit, transitions } = this.#parts;
    const upload = await commit.run(() => {
      const member = this.#writer(caller, request.member, request.fence);
      const open = this.#uploadOf(member, request.upload, ["OPEN"]);
      if (!request.parts.every((number) => number <= open.part_count))
        throw new AgentRefusal("not_allowed", `upload ${open.id} has ${open.part_count} parts`);
      transitions.progress(member);
      return open;
    });
    const urls = await this.#presign(upload, request.parts);
    await this.#logUrls(caller, upload, { parts: urls.length, again: true });
    return { urls };
  }

  /** Safe to repeat. @throws AgentRefusal `storage_unavailable` while the store is at it: the agent asks again */
  async complete(caller: NodeCaller, request: OutputCompleteRequest): Promise<OutputCompleteReply> {
    const upload = await this.#parts.commit.run(() => this.#decideCompletion(caller, request));
    if (upload.state === "COMPLETED") return { versionId: upload.version_id };
    const answered = new AbortController();
    try {
      return await Promise.race([this.#finish(upload), refuseLate(upload, answered.signal)]);
    } finally {
      answered.abort();
    }
  }

  /** Waits for no completion that is under way: the store ends it, and the next start records it. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.allSettled(this.#completing.values());
  }

  /** What a crash left between our row and the object store: taken back, or completed again. The store may be away: nobody waits for it here. */
  async recover(): Promise<void> {
    const { commit, outputs, tables } = this.#parts;
    const { clock, commands } = tables;
    const left = outputs.unfinished();
    const lost = left.filter((upload) => upload.state === "OPEN" || this.#isWithdrawn(upload));
    await commit.run(() => {
      for (const { id, state } of lost) {
        outputs.move(id, state, "ABORTED", { closed_at: clock.now() });
        commands.abortUpload(id);
      }
    });
    // One that can't be completed now stays as it is: its agent asks again, and the end of its fence aborts it.
    for (const upload of left)
      if (!lost.includes(upload)) void this.#finish(upload).catch(() => null);
  }

  #insert(
    caller: NodeCaller,
    request: OutputOpenRequest,
    parts: { partSizeBytes: number; partCount: number },
  ): UploadRow {
    const { tables, outputs } = this.#parts;
    const { clock, jobs, commands, members } = tables;
    const member = this.#writer(caller, request.member, request.fence);
    const job = jobs.get(member.job_id)!;
    const area = request.area ?? "output";
    const key = outputKey(
      {
        isLead: member.is_lead === 1,
        name: member.site ?? member.role,
        returnsFiles: members.returnsFiles(job),
        memberId: member.id,
        fence: request.fence,
        jobId: job.id,
        attemptId: member.attempt_id,
        outputRoot: job.output_root,
      },
      request.key,
      area,
    );
    if (key === null)
      throw new AgentRefusal("not_allowed", `member ${member.id} may not write ${request.key}`);
    // An answer that got lost: the newer try stands alone.
    for (const { id } of outputs.openFor(member.id, key)) {
      outputs.move(id, "OPEN", "ABORTED", { closed_at: clock.now() });
      commands.abortUpload(id);
    }
    if (area === "log") outputs.forgetStoredLogs(member.id);
    const upload: UploadRow = {
      id: newId("up"),
      job_id: job.id,
      member_id: member.id,
      generation: member.generation,
      counter: member.counter,
      bucket: job.bucket,
      key,
      s3_upload_id: null,
      is_log: Number(area === "log"),
      size_bytes: request.sizeBytes,
      sha256: request.sha256,
      part_size_bytes: parts.partSizeBytes,
      part_count: parts.partCount,
      state: "OPEN",
      etags: null,
      version_id: null,
      etag: null,
      opened_at: clock.now(),
      closed_at: null,
    };
    outputs.insert(upload);
    return upload;
  }

  #decideCompletion(caller: NodeCaller, request: OutputCompleteRequest): UploadRow {
    const { outputs, transitions, registry } = this.#parts;
    const held = registry.fenced(caller, request.member, request.fence);
    const upload = this.#uploadOf(held, request.upload, ["OPEN", "COMPLETING", "COMPLETED"]);
    if (upload.state !== "OPEN") {
      // Copying the parts of a large one takes longer than a member may be silent.
      if (this.#completing.has(upload.id)) transitions.progress(held);
      return upload;
    }
    this.#writer(caller, request.member, request.fence);
    const etags = request.etags.map((etag) => etag.replaceAll('"', ""));
    if (etags.length !== upload.part_count)
      throw new AgentRefusal(
        "not_allowed",
        `upload ${upload.id} has ${upload.part_count} parts, not ${etags.length}`,
      );
    outputs.move(upload.id, "OPEN", "COMPLETING", { etags: JSON.stringify(etags) });
    transitions.progress(held);
    return outputs.get(upload.id)!;
  }

  /** One at a time for each upload, however often it is asked for. */
  #finish(upload: UploadRow): Promise<OutputCompleteReply> {
    const running = this.#completing.get(upload.id);
    if (running !== undefined) return running;
    const finishing = this.#completeInStore(upload).finally(() =>
      this.#completing.delete(upload.id),
    );
    this.#completing.set(upload.id, finishing);
    return finishing;
  }

  async #completeInStore(upload: UploadRow): Promise<OutputCompleteReply> {
    const { commit, outputs, store, tables, volume } = this.#parts;
    const etags = JSON.parse(upload.etags!) as string[];
    const stored = await this.#completeOnce(upload, etags);
    if (stored === null || stored.sizeBytes !== upload.size_bytes) {
      if (stored !== null) await store.remove(upload.bucket, upload.key, stored.versionId);
      await commit.run(() =>
        outputs.move(upload.id, "COMPLETING", "ABORTED", { closed_at: tables.clock.now() }),
      );
      throw new AgentRefusal(
        "not_found",
        `upload ${upload.id} did not yield ${upload.size_bytes} bytes; open it again`,
      );
    }
    await volume.durable();
    const isRecorded = await commit.run(() => this.#recordStored(upload, stored));
    if (!isRecorded)
      throw new AgentRefusal("stale_fence", `member ${upload.member_id} lost its fence`);
    return { versionId: stored.versionId };
  }

  /**
   * Null when the store knows nothing of it. An upload that an earlier request completed is known by the ETag of its parts. Without an answer nothing is
   * known, and it stays as it is: whoever asks next learns what became of it.
   */
  async #completeOnce(
    upload: UploadRow,
    etags: readonly string[],
  ): Promise<CompletedVersion | null> {
    const { outputs, store } = this.#parts;
    const { bucket, key, s3_upload_id } = upload;
    const { signal } = this.#closed;
    const parts = etags.map((etag, at) => ({ partNumber: at + 1, etag }));
    const end = performance.now() + completionLimitMs(upload.size_bytes);
    for (;;) {
      try {
        return await store.completeUpload(bucket, key, s3_upload_id!, parts, signal);
      } catch (error) {
        const isUnderWay = error instanceof CompletionUnderWay;
        if (!isUnderWay && !(error instanceof S3ResponseError && error.status < 500)) throw error;
        const current = await store.stat(bucket, key);
        const expected = multipartEtag(etags);
        if (current !== null && expected !== null && current.etag === expected)
          return { ...current, isNew: false };
        if (isUnderWay) {
          if (performance.now() > end || outputs.get(upload.id)?.state !== "COMPLETING")
            return null;
        } else {
          const isOpen = (await store.listUploads(bucket, key)).some(
            ({ uploadId }) => uploadId === s3_upload_id,
          );
          if (isOpen) throw error;
          return null;
        }
      }
      await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => null);
    }
  }

  /** False when the fence was withdrawn while the store put it together: then it goes again. */
  #recordStored(upload: UploadRow, stored: CompletedVersion): boolean {
    const { outputs, tables, transitions } = this.#parts;
    const { changes, clock, commands, members, records, jobs } = tables;
    const named = { version_id: stored.versionId, etag: stored.etag };
    if (!outputs.move(upload.id, "COMPLETING", "COMPLETED", { ...named, closed_at: clock.now() })) {
      // Found by its ETag it may be another upload's, of the same bytes.
      if (stored.isNew && outputs.move(upload.id, "ABORTED", "ABORTED", named))
        commands.removeVersion(upload.id);
      return false;
    }
    const member = members.get(upload.member_id)!;
    const job = jobs.get(upload.job_id)!;
    // The end of the job has removed those that were stored by then.
    if (isTerminal(job.state) && upload.key.startsWith(`ckpt/${job.id}/`))
      commands.removeVersion(upload.id);
    const isOutput = upload.key.startsWith(`${job.output_root}/`);
    if (isOutput) {
      outputs.keep(upload);
      const key = upload.key.slice(job.output_root.length + 1);
      changes.note({
        kind: "output",
        job: job.id,
        member: member.id,
        key,
        sizeBytes: upload.size_bytes,
      });
    }
    const root = `${job.output_root}/${FOLDER_OF_MODELS}/`;
    records.output(
      {
        ...{
          job: upload.job_id,
          member: upload.member_id,
          node: member.node_id,
          bucket: upload.bucket,
          key: upload.key,
        },
        ...{
          fence: fenceOf(upload),
          sizeBytes: upload.size_bytes,
          sha256: upload.sha256,
          uploadId: upload.s3_upload_id,
        },
        isExport: isSiteFile(job.output_root, upload.key),
      },
      upload.key.startsWith(root),
    );
    transitions.progress(member);
    return true;
  }

  #isWithdrawn(upload: UploadRow): boolean {
    const member = this.#parts.tables.members.get(upload.member_id)!;
    return isMemberOver(member.state) || compareFences(fenceOf(upload), member) !== 0;
  }

  #writer(caller: NodeCaller, memberId: string, fence: Fence): MemberRow {
    const member = this.#parts.registry.fenced(caller, memberId, fence);
    if (!mayMemberWrite(member.state))
      throw new AgentRefusal("not_allowed", `member ${memberId} is past its outputs`);
    return member;
  }

  #uploadOf(member: MemberRow, uploadId: string, states: readonly UploadRow["state"][]): UploadRow {
    const upload = this.#parts.outputs.get(uploadId);
    if (upload === undefined || upload.member_id !== member.id || !states.includes(upload.state))
      throw new AgentRefusal("not_found", `member ${member.id} has no such upload`);
    if (upload.generation !== member.generation || upload.counter !== member.counter)
      throw new AgentRefusal("stale_fence", `upload ${uploadId} is of an older fence`);
    return upload;
  }

  #presign(upload: UploadRow, numbers: readonly number[]): Promise<string[]> {
    const { bucket, key, s3_upload_id, size_bytes } = upload;
    if (s3_upload_id === null)
      throw new AgentRefusal("not_found", `upload ${upload.id} is not open yet`);
    const lifeS = urlLifeS(size_bytes);
    return Promise.all(
      numbers.map((number) =>
        this.#parts.store.presignPart(bucket, key, s3_upload_id, number, lifeS),
      ),
    );
  }

  async #logUrls(
    caller: NodeCaller,
    upload: UploadRow,
    issued: { parts: number; again?: true },
  ): Promise<void> {
    const commit = committer();
    const { s3_upload_id: uploadId } = upload;
    const { output_root: root } = this.#parts.tables.jobs.get(upload.job_id)!;
    await this.#parts.gate.fact(
      {
        type: "model.output.open",
        op: randomUUID(),
        actor: actorOf(caller),
        object: { kind: "object", id: commit("object.id", `${upload.bucket}/${upload.key}`) },
        detail: {
          ...{
            ...fenceOf(upload),
            node: caller.node,
            member: upload.member_id,
            job: upload.job_id,
          },
          ...{ bytes: upload.size_bytes, ttl_s: urlLifeS(upload.size_bytes), ...issued },
          ...(isSiteFile(root, upload.key) ? { export: true } : {}),
          ...(uploadId === null ? {} : { upload_sha256: joinKey(uploadId) }),
        },
      },
      commit.disclosures,
    );
  }
}

function fenceOf({ generation, counter }: UploadRow): Fence {
  return { generation, counter };
}

/** Refuses after a while, rather than give no answer: requests that wait are counted against the node. */
async function refuseLate({ id }: UploadRow, answered: AbortSignal): Promise<never> {
  await sleep(ANSWER_MS, undefined, { signal: answered });
  throw new AgentRefusal(
    "storage_unavailable",
    `the object store is still putting upload ${id} together`,
  );
}
