import { createHash } from "node:crypto";
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import type { SubmitTaskBody } from "@resontech/contracts/http-tasks";
import { isTerminal } from "@resontech/contracts/job-states";
import { ApiError } from "../api-error.ts";
import type { EventParts, OperationRunner } from "../audited-operation.ts";
import type { JobView } from "../kernel/job-view.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { VolumeSync } from "../storage/volume-sync.ts";
import type { StageTimes } from "./submission-stages.ts";
import type { ValidatedTask, ValidationDeps } from "./validated-task.ts";

/** Everything that can be wrong with a task, found in the bucket by the rules of its kind. @throws ApiError with the code of the first thing found wrong */
export type ValidateTask = (
  deps: ValidationDeps,
  bucket: string,
  body: SubmitTaskBody,
) => Promise<ValidatedTask>;

export type SubmissionDeps = ValidationDeps & {
  validate: ValidateTask;
  kernel: Pick<Kernel, "submit" | "findSubmitted" | "livingJobOf" | "requireQueueRoom" | "job">;
  volume: Pick<VolumeSync, "durable">;
  metrics: { submissions: StageTimes };
};

/**
 * Validate in the bucket → gate, and beside it what was validated is made durable, which nobody sees → the kernel's transaction.
 * @throws ApiError, WorkspaceBusy, IdempotencyConflict, IdempotencyGone, AwaitedJobMissing, DependencyFailed, PoolUnknown, PoolLimitExceeded, ShareLimitExceeded, PersonLimitExceeded, PersonQueueFull, AuditUnavailable
 */
export async function submitTask(
  deps: SubmissionDeps,
  owner: { userId: string; projectId: string },
  bucket: string,
  body: SubmitTaskBody,
  idempotencyKey: string | null,
  audit: OperationRunner,
): Promise<JobView> {
  const validated = () => deps.validate(deps, bucket, body);
  const { after, pool } = body;
  const what = { validated, asked: body, after, pool, idempotencyKey };
  return await acceptTask(deps, owner, what, audit);
}

/** @property asked what was sent: the same key with another is a conflict */
export type Accepting = {
  validated: () => Promise<ValidatedTask>;
  asked: object;
  after?: SubmitTaskBody["after"];
  /** Absent: as the task that was validated has it; null: none. */
  pool?: string | null | undefined;
  /** The schedule whose run it is. */
  schedule?: string;
  idempotencyKey: string | null;
};

/** Works as {@link submitTask} does, for what is validated in a way of its own. */
export async function acceptTask(
  deps: Pick<SubmissionDeps, "kernel" | "volume" | "metrics">,
  owner: { userId: string; projectId: string },
  { validated, asked, after = [], pool: named, schedule, idempotencyKey }: Accepting,
  audit: OperationRunner,
): Promise<JobView> {
  const idempotency = idempotencyOf(idempotencyKey, asked);
  if (idempotency !== null) {
    const known = deps.kernel.findSubmitted(
      owner.projectId,
      idempotency.key,
      idempotency.bodySha256,
    );
    if (known !== null)
      return audit.operation(
        { type: "job.submit", object: { kind: "job", id: known.id } },
        async () => known,
      );
  }
  requireOrder(deps.kernel, after);
  deps.kernel.requireQueueRoom(owner);
  const ended = deps.metrics.submissions.clock();
  const validatedTask = await validated();
  const { hasKeyInScript: _, ...task } = validatedTask;
  ended("bucket");
  const pool = named === undefined ? (task.pool ?? null) : named;
  const { bucket } = task;
  const busy = deps.kernel.livingJobOf(bucket, task.outputRoot);
  if (busy !== null)
    throw new ApiError("workspace_busy", `/${task.outputRoot} is used by job ${busy}`);
  const inputsDurable = deps.volume.durable();
  // Awaited once the gate is open; where it stays shut nobody asks.
  inputsDurable.catch(() => undefined);
  return audit.operation(
    submissionParts(validatedTask, {
      ...(after.length === 0 ? {} : { after: after.length }),
      ...(schedule === undefined ? {} : { schedule }),
      ...(pool === null ? {} : { pool }),
    }),
    async (operation) => {
      ended("audit");
      await inputsDurable;
      ended("disk");
      const { projectId, userId } = owner;
      const job = await deps.kernel.submit({
        ...task,
        userId,
        projectId,
        after,
        pool,
        audit: operation.proof,
        idempotency,
      });
      ended("commit");
      operation.closedElsewhere();
      return job;
    },
  );
}

/** What the log says of a submission. @param also what the task does not say itself */
export function submissionParts(
  { name, bucket, outputRoot, inputs, hasKeyInScript, ...task }: ValidatedTask,
  also: EventDetail<"job.submit">,
): EventParts<"job.submit"> {
  const modelSha256 = inputs.find(({ kind }) => kind === "model")?.sha256 ?? null;
  return {
    type: "job.submit",
    object: { kind: "job" },
    detail: {
      shards: task.shardUncompressedBytes.length,
      inputs: inputs.length,
      input_bytes: inputs.reduce((bytes, input) => bytes + input.sizeBytes, 0),
      key_in_script: hasKeyInScript,
      ...also,
      ...(task.jobClass == null ? {} : { class: task.jobClass }),
      ...(task.isPreemptible == null ? {} : { preemptible: task.isPreemptible }),
      ...(modelSha256 === null ? {} : { model_sha256: modelSha256 }),
    },
    pii: { "task-name": name, path: `${bucket}/${outputRoot}` },
  };
}

/** Told before anything is read or asked; the kernel looks again. @throws ApiError dependency_failed */
export function requireOrder(
  kernel: Pick<Kernel, "job">,
  after: NonNullable<Accepting["after"]>,
): void {
  for (const { job: id, when } of after) {
    const state = kernel.job(id)?.state;
    if (when === "succeeded" && state !== undefined && isTerminal(state) && state !== "SUCCEEDED")
      throw new ApiError("dependency_failed", `${id} has ended without success: ${state}`);
  }
}

/** Null where no key was sent. */
export function idempotencyOf(
  key: string | null,
  asked: object,
): { key: string; bodySha256: string } | null {
  return key === null ? null : { key, bodySha256: bodyDigest(asked) };
}

/** The same request whatever the order of its fields. */
function bodyDigest(body: object): string {
  const ordered = Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(ordered)).digest("hex");
}
