import type { DeviceFacts } from "@resontech/contracts/image-needs";
import type { RowFilter } from "../db/row-filter.ts";
import type { JobOutput } from "./output-table.ts";
import type { GateProof } from "../audit-ports.ts";
import type { AcceptedTask } from "./accepted-task.ts";
import type { JobView } from "./job-view.ts";

export type WorkerView = {
  id: string;
  node: string;
  model: string;
  kind: "gpu" | "cpu";
  /** What decides which image runs on it. */
  device: DeviceFacts;
  totalMemoryMb: number;
  /** 0 while the worker is held. */
  freeMemoryMb: number;
  priceCents: number;
  status: "free" | "busy" | "unavailable";
};
/** `onlineCount` counts workers of ready nodes, held ones included. */
export type WorkersStats = {
  onlineCount: number;
  totalFreeMemoryMb: number;
  workers: WorkerView[];
};

export type NvflareJob = {
  jobId: string;
  nvflareJob: string;
  attempt: number;
  status: string;
  startedAt: number;
  endedAt: number | null;
};
/** Rounds over all attempts; null before the first starts. */
export type NvflareStats = { currentRound: number | null; numRounds: number | null };

export type CatalogueEntry = {
  /** Catalogue id, `rtx_5090`, `cpu`. */
  id: string;
  name: string;
  kind: "gpu" | "cpu";
  memoryMb: number;
  pricePerHourCents: number;
  /** Workers of this model on ready nodes, and how many of them are free. */
  online: number;
  free: number;
};

/** What the routes ask of the kernel. Every promise settles after the commit that it speaks of. */
export interface Kernel {
  /**
   * Makes the job (or finds the one that its idempotency key made) and answers with its state.
   * @throws WorkspaceBusy, IdempotencyConflict, IdempotencyGone, Draining
   */
  submit(task: AcceptedTask): Promise<JobView>;
  /** The job that an idempotency key stands for. @throws IdempotencyConflict, IdempotencyGone */
  findSubmitted(projectId: string, key: string, bodySha256: string): JobView | null;
  /**
   * Asks the job to stop; legal in every state, without effect on one that has ended.
   * @param audit the acknowledged `job.cancel.requested`
   */
  requestStop(
    jobId: string,
    reason: "user_cancelled" | "operator_cancelled",
    audit: GateProof,
  ): Promise<JobView | null>;
  /** Tells the job's owner why somebody else stopped the job; nothing for a job that has ended otherwise. */
  explainStop(jobId: string, message: string): Promise<void>;
  /** Whosever job it is. */
  job(id: string): JobView | null;
  /** Newest first. @param kinds which are left out */
  jobs(
    filter: RowFilter,
    limit: number,
    offset: number,
    { areNot }: { areNot: readonly string[] },
  ): JobView[];
  /** The job that uses a folder of a bucket now. */
  livingJobOf(bucket: string, outputRoot: string): string | null;
  /** What the job left, by key: versions that stay as long as the job does. */
  outputs(jobId: string): JobOutput[];
  /** An ended job's versions go; answers how many. */
  forgetOutputs(jobId: string): Promise<number>;
  workersStats(): WorkersStats;
  nvflareJobs(jobId: string): NvflareJob[];
  nvflareStats(jobId: string): NvflareStats;
  catalogue(): CatalogueEntry[];
  /** Counts for the operator: jobs by state, nodes, generation. */
  status(): {
    jobs: Record<string, number>;
    nodes: { node: string; state: string; workers: number }[];
    generation: number;
  };
}
