import { randomUUID } from "node:crypto";
import { committer, joinKey } from "@resontech/audit/producer";
import { JOB_STATE_EVENT } from "@resontech/contracts/audit-catalogue";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { Fence } from "@resontech/contracts/fence";
import type { JobReason } from "@resontech/contracts/job-reasons";
import type { JobState, MemberState } from "@resontech/contracts/job-states";
import { actorOf, COORDINATOR_ACTOR } from "../authorization/in-the-log.ts";
import type { GateProof } from "../audit-ports.ts";
import type { AttemptRow, JobRow, MemberRow } from "./rows.ts";
import type { RecordOutbox } from "../audit/record-outbox.ts";

/** What each of the kernel's transitions says in the audit log. */
export class KernelRecords {
  readonly #outbox: RecordOutbox;

  constructor(outbox: RecordOutbox) {
    this.#outbox = outbox;
  }

  job(
    job: Pick<JobRow, "id" | "audit_op" | "user_id">,
    from: JobState | null,
    to: JobState,
    more: {
      reason?: JobReason | null;
      attempt?: Pick<AttemptRow, "id" | "number">;
      /** The job whose end ended this one. */
      because?: string | undefined;
    } = {},
  ): void {
    this.#outbox.write({
      type: JOB_STATE_EVENT[to],
      phase: "fact",
      op: job.audit_op,
      actor: COORDINATOR_ACTOR,
      on_behalf_of: job.user_id,
      object: { kind: "job", id: job.id },
      detail: {
        from,
        to,
        ...(more.reason == null ? {} : { reason: more.reason }),
        ...(more.because === undefined ? {} : { because: more.because }),
        ...(more.attempt === undefined
          ? {}
          : { attempt: more.attempt.id, attempt_no: more.attempt.number }),
      },
    });
  }

  /** One of several gangs makes way; its job runs on. */
  gangMakesWay(
    job: Pick<JobRow, "id" | "audit_op" | "user_id">,
    detail: { attempt: string; reason: "guarantee" | "class" | "asleep" },
  ): void {
    this.#outbox.write({
      type: "job.gang.preempting",
      phase: "fact",
      op: job.audit_op,
      actor: COORDINATOR_ACTOR,
      on_behalf_of: job.user_id,
      object: { kind: "job", id: job.id },
      detail,
    });
  }

  member(
    member: MemberRow,
    from: MemberState | null,
    job: Pick<JobRow, "audit_op">,
    reason: JobReason | null,
  ): void {
    this.#outbox.write({
      type: "job.member",
      phase: "fact",
      op: job.audit_op,
      actor: COORDINATOR_ACTOR,
      object: { kind: "member", id: member.id },
      detail: {
        job: member.job_id,
        attempt: member.attempt_id,
        role: member.role,
        node: member.node_id,
        from,
        to: member.state,
        generation: member.generation,
        counter: member.counter,
        ...(reason === null ? {} : { reason }),
      },
    });
  }

  /** Closes an operation that the gate opened. */
  outcome(
    type:
      | "job.submit"
      | "job.cancel"
      | "iam.node.join-token"
      | "iam.node.join"
      | "admin.maintenance",
    gate: GateProof,
    object: EventDraft["object"],
    outcome: { phase: "completed" | "failed"; code: string },
  ): void {
    this.#outbox.write({
      type,
      phase: outcome.phase,
      op: gate.op,
      actor: COORDINATOR_ACTOR,
      object,
      outcome: { code: outcome.code, ...(gate.unwitnessed ? { unwitnessed: true } : {}) },
    });
  }

  nodeRegistered(
    node: string,
    epoch: Fence,
    { workers, release }: { workers: number; release: string | undefined },
  ): void {
    this.#outbox.write({
      type: "iam.node.register",
      phase: "fact",
      op: randomUUID(),
      actor: actorOf({ kind: "node", node, by: "certificate" }),
      object: { kind: "node", id: node },
      detail: { ...epoch, workers, ...(release === undefined ? {} : { release }) },
    });
  }

  nodeLost(node: string, epoch: Fence): void {
    this.#outbox.write({
      type: "iam.node.lost",
      phase: "fact",
      op: randomUUID(),
      actor: COORDINATOR_ACTOR,
      object: { kind: "node", id: node },
      detail: { ...epoch },
    });
  }

  /** An output that is stored. A model's digest stands in clear, any other's is a commitment. */
  output(
    output: {
      job: string;
      member: string;
      node: string;
      fence: Fence;
      bucket: string;
      key: string;
      sizeBytes: number;
      sha256: string;
      uploadId: string | null;
      isExport: boolean;
      /** Who stored it. @default the member's node */
      by?: "coordinator";
      /** So many parts of a log whose place it takes. */
      merged?: number;
    },
    isModel: boolean,
  ): void {
    const commit = committer();
    this.#outbox.write(
      {
        type: "model.output",
        phase: "fact",
        op: randomUUID(),
        actor:
          output.by === "coordinator"
            ? COORDINATOR_ACTOR
            : actorOf({ kind: "node", node: output.node, by: "certificate" }),
        object: { kind: "object", id: commit("object.id", `${output.bucket}/${output.key}`) },
        digests: isModel
          ? { model: output.sha256 }
          : { output: commit("digests.output", output.sha256) },
        detail: {
          ...output.fence,
          node: output.node,
          member: output.member,
          job: output.job,
          bytes: output.sizeBytes,
          ...(output.isExport ? { export: true } : {}),
          ...(output.merged === undefined ? {} : { merged: output.merged }),
          ...(output.uploadId === null ? {} : { upload_sha256: joinKey(output.uploadId) }),
        },
      },
      commit.disclosures,
    );
  }
}
