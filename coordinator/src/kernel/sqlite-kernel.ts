import type { GroupCommit } from "../db/group-commit.ts";
import type { WriteHandle } from "../db/open-database.ts";
import type { RowFilter } from "../db/row-filter.ts";
import type { GateProof } from "../audit-ports.ts";
import type { AcceptedTask } from "./accepted-task.ts";
import { Draining } from "./errors.ts";
import type { FleetViews } from "./fleet-views.ts";
import type { JobView } from "./job-view.ts";
import type { JobViews } from "./job-views.ts";
import type { Kernel } from "./kernel.ts";
import type { Submissions } from "./submit.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { Transitions } from "./transitions.ts";

export type SqliteKernelParts = {
  db: WriteHandle;
  commit: GroupCommit;
  tables: KernelTables;
  transitions: Transitions;
  submissions: Submissions;
  jobViews: JobViews;
  fleetViews: FleetViews;
  isDraining: () => boolean;
};

/** The kernel as routes see it. */
export class SqliteKernel implements Kernel {
  readonly #parts: SqliteKernelParts;

  constructor(parts: SqliteKernelParts) {
    this.#parts = parts;
  }

  async submit(task: AcceptedTask): Promise<JobView> {
    const { commit, submissions, jobViews, isDraining } = this.#parts;
    if (isDraining()) throw new Draining();
    return await commit.run(() => jobViews.job(submissions.insert(task))!);
  }

  findSubmitted(projectId: string, key: string, bodySha256: string): JobView | null {
    const id = this.#parts.submissions.find(projectId, key, bodySha256);
    return id === null ? null : this.#parts.jobViews.job(id);
  }

  async requestStop(
    jobId: string,
    reason: "user_cancelled" | "operator_cancelled",
    audit: GateProof,
  ): Promise<JobView | null> {
    const { commit, tables, transitions, jobViews } = this.#parts;
    return await commit.run(() => {
      const job = tables.jobs.get(jobId);
      transitions.moveJob(jobId, "stop", { reason, gate: audit });
      transitions.settle(jobId);
      const outcome =
        job === undefined
          ? ({ phase: "failed", code: "not_found" } as const)
          : ({ phase: "completed", code: "ok" } as const);
      tables.records.outcome("job.cancel", audit, { kind: "job", id: jobId }, outcome);
      return jobViews.job(jobId);
    });
  }

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

  job(id: string): JobView | null {
    return this.#parts.jobViews.job(id);
  }

  jobs(
    filter: RowFilter,
    limit: number,
    offset: number,
    { areNot }: { areNot: readonly string[] },
  ): JobView[] {
    return this.#parts.jobViews.page(filter, limit, offset, areNot);
  }

  livingJobOf(bucket: string, outputRoot: string): string | null {
    return this.#parts.submissions.livingJobOf(bucket, outputRoot);
  }

  outputs(jobId: string) {
    return this.#parts.tables.outputs.keptOf(jobId);
  }

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

  workersStats() {
    return this.#parts.fleetViews.workers();
  }

  nvflareJobs(jobId: string) {
    return this.#parts.jobViews.nvflareJobs(jobId);
  }

  nvflareStats(jobId: string) {
    return this.#parts.jobViews.nvflareStats(jobId);
  }

  catalogue() {
    return this.#parts.fleetViews.catalogue();
  }

  status() {
    return this.#parts.fleetViews.status(this.#parts.tables.meta.number("generation"));
  }
}
