import type { GroupCommit } from "../db/group-commit.ts";
import type { WriteHandle } from "../db/open-database.ts";
import type { RowFilter } from "../db/row-filter.ts";
import type { GateProof } from "../audit-ports.ts";
import type { AcceptedArray } from "./accepted-array.ts";
import type { AcceptedTask } from "./accepted-task.ts";
import { Draining } from "./errors.ts";
import type { FleetModel, FleetStatus, WorkersStats } from "./fleet-view.ts";
import type { FleetViews } from "./fleet-views.ts";
import type { JobView } from "./job-view.ts";
import type { JobViews } from "./job-views.ts";
import type { JobOutput } from "./output-table.ts";
import type { Submissions } from "./submit.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { Transitions } from "./transitions.ts";

export type KernelDeps = {
  db: WriteHandle;
  commit: GroupCommit;
  tables: KernelTables;
  transitions: Transitions;
  submissions: Submissions;
  jobViews: JobViews;
  fleetViews: FleetViews;
  isDraining: () => boolean;
};

/** The kernel as routes see it. Every promise settles after the commit that it speaks of. */
export class Kernel {
  readonly #parts: KernelDeps;

  constructor(parts: KernelDeps) {
    this.#parts = parts;
  }

  /**
   * Makes the job (or finds the one that its idempotency key made) and answers with its state.
   * @throws WorkspaceBusy, IdempotencyConflict, IdempotencyGone, AwaitedJobMissing, DependencyFailed, PoolUnknown, PoolLimitExceeded, ShareLimitExceeded, PersonLimitExceeded, PersonQueueFull, Draining
   */
  async submit(task: AcceptedTask): Promise<JobView> {
    const { commit, submissions, jobViews, isDraining } = this.#parts;
    if (isDraining()) throw new Draining();
    return await commit.run(() => jobViews.job(submissions.insert(task))!);
  }

  /**
   * Makes all jobs of the array, or none.
   * @returns the id of the array: an earlier one when the idempotency key of its first job names it
   * @throws as `submit` does
   */
  async submitArray(array: AcceptedArray): Promise<string> {
    const { commit, submissions, tables, isDraining } = this.#parts;
    if (isDraining()) throw new Draining();
    return await commit.run(() => {
      const [first = ""] = submissions.insertArray(array);
      return tables.arrays.arrayOf(first) ?? array.id;
    });
  }

  /** Id of the job's array; null where it is in none. */
  arrayOf(jobId: string): string | null {
    return this.#parts.tables.arrays.arrayOf(jobId);
  }

  /** Told before anything is read or asked; a submission looks again. @throws PersonQueueFull */
  requireQueueRoom(owner: { userId: string; projectId: string }): void {
    this.#parts.submissions.requireQueueRoom(owner);
  }

  /** The job that an idempotency key stands for. @throws IdempotencyConflict, IdempotencyGone */
  findSubmitted(projectId: string, key: string, bodySha256: string): JobView | null {
    const id = this.#parts.submissions.find(projectId, key, bodySha256);
    return id === null ? null : this.#parts.jobViews.job(id);
  }

  /**
   * Asks the job to stop; legal in every state, without effect on one that has ended.
   * @param audit the acknowledged `job.cancel.requested`
   * @param by the person who asked, where others may be told
   */
  async requestStop(
    jobId: string,
    reason: "user_cancelled" | "operator_cancelled",
    audit: GateProof,
    by: string | null = null,
  ): Promise<JobView | null> {
    const { commit, tables, transitions, jobViews } = this.#parts;
    return await commit.run(() => {
      const job = tables.jobs.get(jobId);
      const isFirst = transitions.moveJob(jobId, "stop", { reason, gate: audit });
      if (isFirst && by !== null) tables.jobs.note(jobId, { stopped_by: by });
      transitions.reconcile(jobId);
      const outcome =
        job === undefined
          ? ({ phase: "failed", code: "not_found" } as const)
          : ({ phase: "completed", code: "ok" } as const);
      tables.records.outcome("job.cancel", audit, { kind: "job", id: jobId }, outcome);
      return jobViews.job(jobId);
    });
  }

  /** Tells the job's owner why somebody else stopped the job; nothing for a job that has ended otherwise. */
  async explainStop(jobId: string, message: string): Promise<void> {
    const { commit, tables } = this.#parts;
    await commit.run((db) => {
      const explain = db.prepare(
        "UPDATE jobs SET message = ? WHERE id = ? AND reason = 'operator_cancelled'",
      );
      if (explain.run(message, jobId).changes === 1)
        tables.changes.note({ kind: "explained", job: jobId, message });
    });
  }

  /** Whosever job it is. */
  job(id: string): JobView | null {
    return this.#parts.jobViews.job(id);
  }

  /** Newest first. @param areNot kinds that are left out */
  jobs(
    filter: RowFilter,
    limit: number,
    offset: number,
    { areNot }: { areNot: readonly string[] },
  ): JobView[] {
    return this.#parts.jobViews.page(filter, limit, offset, areNot);
  }

  /** The job that uses a folder of a bucket now. */
  livingJobOf(bucket: string, outputRoot: string): string | null {
    return this.#parts.submissions.livingJobOf(bucket, outputRoot);
  }

  /** What the job left, by key: versions that stay as long as the job does. */
  outputs(jobId: string): JobOutput[] {
    return this.#parts.tables.outputs.keptOf(jobId);
  }

  /** An ended job's versions go; answers how many. */
  async forgetOutputs(jobId: string): Promise<number> {
    const { commit, tables } = this.#parts;
    const { changes, outputs, commands, lastModels } = tables;
    return await commit.run(() => {
      const forgotten = outputs.forgetKept(jobId);
      const last = lastModels.of(jobId);
      // Its copy is not there yet: it is not made any more.
      if (last?.outputUpload === null) commands.removeVersion(last.checkpointUpload);
      lastModels.forget(jobId);
      // What a living job starts from goes once that has ended.
      for (const { uploadId } of forgotten)
        if (!outputs.isRead(uploadId)) commands.removeVersion(uploadId);
      if (forgotten.length > 0)
        changes.note({ kind: "outputs-removed", job: jobId, count: forgotten.length });
      return forgotten.length;
    });
  }

  workersStats(): WorkersStats {
    return this.#parts.fleetViews.workers();
  }

  catalogue(): FleetModel[] {
    return this.#parts.fleetViews.catalogue();
  }

  status(): FleetStatus {
    return this.#parts.fleetViews.status(this.#parts.tables.meta.number("generation"));
  }
}
