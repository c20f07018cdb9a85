import type { JobReason } from "@resontech/contracts/job-reasons";
import { isTerminal, type JobState } from "@resontech/contracts/job-states";
import { isInFilter, type RowFilter } from "../../src/db/row-filter.ts";
import type { AcceptedArray } from "../../src/kernel/accepted-array.ts";
import type { AcceptedTask } from "../../src/kernel/accepted-task.ts";
import { IdempotencyConflict } from "../../src/kernel/errors.ts";
import type { JobView } from "../../src/kernel/job-view.ts";
import type { FleetModel, WorkersStats } from "../../src/kernel/fleet-view.ts";
import type { Kernel } from "../../src/kernel/kernel.ts";
import type { NvflareRuns } from "../../src/workloads/federation/nvflare-runs.ts";
import type { JobOutput } from "../../src/kernel/output-table.ts";

/** Records what routes ask for and answers as told, also what the real kernel can't be made to: test/server.engines.test.ts has that one. */
export class FakeKernel implements Pick<Kernel, keyof Kernel> {
  readonly tasks: AcceptedTask[] = [];
  readonly views = new Map<string, JobView>();
  readonly #keys = new Map<string, { bodySha256: string; id: string }>();
  readonly #arrays = new Map<string, string>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  async submit(task: AcceptedTask): Promise<JobView> {
    this.tasks.push(task);
    const view = this.#view(`job-${this.tasks.length}`, task, "QUEUED");
    this.views.set(view.id, view);
    if (task.idempotency !== null)
      this.#keys.set(task.idempotency.key, { ...task.idempotency, id: view.id });
    return view;
  }

  async submitArray({ id, jobs }: AcceptedArray): Promise<string> {
    for (const { task } of jobs) this.#arrays.set((await this.submit(task)).id, id);
    return id;
  }

  arrayOf(jobId: string): string | null {
    return this.#arrays.get(jobId) ?? null;
  }

  /** A running job that nobody submitted, `state-RUNNING` where no other id is said. */
  putRunning(
    owner: Pick<AcceptedTask, "projectId" | "userId" | "bucket">,
    { id, kind } = { id: "state-RUNNING", kind: "federation" },
  ): void {
    const task = {
      ...{ ...owner, kind, name: "running", slug: "x", outputRoot: "jobs/running" },
      ...{ warnings: [], resumable: false },
    };
    const rounds = { current: 2, total: 5, done: 2 };
    this.views.set(id, { ...this.#view(id, task, "RUNNING"), rounds });
  }

  findSubmitted(_projectId: string, key: string, bodySha256: string): JobView | null {
    const known = this.#keys.get(key);
    if (known === undefined) return null;
    if (known.bodySha256 !== bodySha256) throw new IdempotencyConflict();
    return this.views.get(known.id) ?? null;
  }

  async requestStop(jobId: string): Promise<JobView | null> {
    const view = this.views.get(jobId);
    if (view === undefined || isTerminal(view.state)) return view ?? null;
    const stopping: JobView = {
      ...view,
      desired: "stop",
      state: "STOPPING",
      reason: "user_cancelled",
    };
    this.views.set(jobId, stopping);
    return stopping;
  }

  async explainStop(): Promise<void> {}

  job(id: string): JobView | null {
    return this.views.get(id) ?? null;
  }

  jobs(
    filter: RowFilter,
    limit: number,
    offset: number,
    { areNot }: { areNot: readonly string[] },
  ): JobView[] {
    return [...this.views.values()]
      .filter((view) => isInFilter(filter, view) && !areNot.includes(view.kind))
      .slice(offset, offset + limit);
  }

  /** Of every job. */
  readonly left: JobOutput[] = [];

  outputs(): JobOutput[] {
    return this.left;
  }

  async forgetOutputs(): Promise<number> {
    return 0;
  }

  requireQueueRoom(): void {}

  livingJobOf(bucket: string, outputRoot: string): string | null {
    const views = [...this.views.values()];
    return (
      views.find(
        (view) =>
          view.bucket === bucket && view.outputRoot === outputRoot && !isTerminal(view.state),
      )?.id ?? null
    );
  }

  workersStats(): WorkersStats {
    const workers = ["node-a-0", "node-a-1"].map((id) => ({
      ...{
        id,
        node: "node-a",
        model: "cpu",
        kind: "cpu" as const,
        device: { kind: "cpu" as const },
        totalMemoryMb: 4096,
        freeMemoryMb: 4096,
        priceCents: 5,
      },
      status: "free" as const,
    }));
    return { onlineCount: 2, totalFreeMemoryMb: 8192, workers };
  }

  /** The same of every job. */
  readonly nvflareRuns: Pick<NvflareRuns, "of"> = {
    of: () => [
      {
        ...{ nvflareJob: "nv-1", attempt: 1, status: "RUNNING" },
        ...{ startedAt: this.#now(), endedAt: null },
      },
    ],
  };

  catalogue(): FleetModel[] {
    return [
      {
        id: "cpu",
        name: "CPU slot",
        kind: "cpu",
        memoryMb: 0,
        pricePerHourCents: 5,
        online: 2,
        free: 2,
      },
      {
        id: "rtx_4090",
        name: "RTX 4090",
        kind: "gpu",
        memoryMb: 24_564,
        pricePerHourCents: 60,
        online: 0,
        free: 0,
      },
      {
        id: "h100",
        name: "H100",
        kind: "gpu",
        memoryMb: 81_559,
        pricePerHourCents: 250,
        online: 0,
        free: 0,
      },
    ];
  }

  status() {
    return { jobs: {}, nodes: [{ node: "node-a", state: "READY", workers: 2 }], generation: 1 };
  }

  #view(
    id: string,
    task: Pick<
      AcceptedTask,
      | "kind"
      | "name"
      | "slug"
      | "projectId"
      | "userId"
      | "bucket"
      | "outputRoot"
      | "resumable"
      | "warnings"
    >,
    state: JobState,
  ): JobView {
    const { kind, name, slug, projectId, userId, bucket, outputRoot, resumable, warnings } = task;
    const hasFailed = isTerminal(state) && state !== "SUCCEEDED";
    const code: JobReason = "user_exception";
    const at = this.#now();
    return {
      ...{
        id,
        kind,
        name,
        slug,
        projectId,
        userId,
        bucket,
        outputRoot,
        state,
        resumable,
        warnings,
        model: null,
      },
      ...{
        desired: "run",
        stoppedBy: null,
        stateSince: at,
        deadlineAt: state === "STAGING" ? at + 120_000 : null,
        attempt: 1,
      },
      ...{ reason: hasFailed ? code : null, waitingFor: state === "HELD" ? "a person" : null },
      error: hasFailed
        ? {
            code,
            message: "the script raised ValueError",
            hint: "Read it.",
            detail: "ValueError: 1",
            member: "site-1",
          }
        : null,
      rounds: { current: null, total: 3, done: 0 },
      ...{ madeWay: null, jobClass: "train", isPreemptible: true },
      members: [
        {
          ...{
            id: "m-1",
            role: "client",
            site: "site-1",
            node: "node-a",
            workerId: "node-a-0",
            workerIds: ["node-a-0"],
            model: "cpu",
            state: "RUNNING",
            isReady: true,
            fence: "1.1",
          },
          ...{ exitCode: null, reason: null, message: null, cachedBytes: null },
          progress: { step: "shard", done: 5, total: null, at },
          heartbeat: { at, ageMs: 12, loopLagMs: 0.5, diskFreeBytes: 1 },
        },
      ],
      ...{ createdAt: at, startedAt: null, endedAt: hasFailed ? at : null },
    };
  }
}
