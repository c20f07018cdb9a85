import type { AcceptedTask } from "./accepted-task.ts";

/** Where a job stands in its array. @property parameters values by name */
export type ArrayPlace = { point: number; parameters: Readonly<Record<string, string>> };

/** One task as many, each with its own `job.submit.requested` acknowledged. */
export type AcceptedArray = {
  id: string;
  name: string;
  projectId: string;
  userId: string;
  /** So many may be queued or run at once; null: all. */
  atOnce: number | null;
  /** In the order in which they are queued. */
  jobs: readonly { place: ArrayPlace; task: AcceptedTask }[];
};
