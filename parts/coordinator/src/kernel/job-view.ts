import type { JobClass } from "./decisions/priorities.ts";
import type { JobState, MemberState } from "@resontech/contracts/job-states";
import type { JobReason } from "@resontech/contracts/job-reasons";

/** A job as routes show it. Instants are Unix milliseconds. */
export type JobView = {
  id: string;
  /** Of the workload. */
  kind: string;
  name: string;
  slug: string;
  projectId: string;
  userId: string;
  bucket: string;
  outputRoot: string;
  /** The exact state; `wireState` maps it to the four words of the public API. */
  state: JobState;
  desired: "run" | "stop";
  /** As it was asked for, or that of its kind. */
  jobClass: JobClass;
  /** False: it makes way for nobody while it is within a guarantee of its project. */
  isPreemptible: boolean;
  /** Name of the person who cancelled it. */
  stoppedBy: string | null;
  stateSince: number;
  /** When the state ends by itself, and not well; null when it may last. */
  deadlineAt: number | null;
  /** Why it stops or ended without success, or why it waits; null while there is nothing to say. */
  reason: JobReason | null;
  /** What the state waits for, in words: why not placed yet, which member is still being staged. */
  waitingFor: string | null;
  /** Set for a job that ended without success. */
  error: JobError | null;
  resumable: boolean;
  warnings: string[];
  attempt: number;
  rounds: JobRounds;
  /** From when it made way until it has workers again; null for a job that did not. */
  madeWay: JobMadeWay | null;
  /** What stays of a training; null while it goes on, and where nothing came of it. */
  model: JobModel | null;
  members: JobMemberView[];
  createdAt: number;
  startedAt: number | null;
  endedAt: number | null;
};

export type JobError = {
  code: JobReason;
  message: string;
  hint: string;
  /** Last lines of the traceback, where there was one. */
  detail: string | null;
  /** `server` or the site whose failure decided it. */
  member: string | null;
};

/** @property by whose job it made way for; null once that is deleted @property afterRound that it goes on after; null: it begins anew */
export type JobMadeWay = {
  at: number;
  by: { projectId: string; userId: string } | null;
  afterRound: number | null;
};

/** The model among the outputs of a job that has ended. */
export type JobModel = {
  /** Of the bucket. */
  key: string;
  /** Whose it is; null where the workflow names none. */
  round: number | null;
  /** False where it is the last that was committed before an end without success. */
  isFinal: boolean;
  /** False where a weight is no number; null where nobody could look. */
  isFinite: boolean | null;
};

/** Over all attempts. `current`, as the workflow numbers it, is null before the first round starts, `total` where the workflow does not name its rounds. */
export type JobRounds = { current: number | null; total: number | null; done: number };

/** One member of the attempt that lives, or lived last, with what its node last said. */
export type JobMemberView = {
  id: string;
  /** A name of the workload's. */
  role: string;
  site: string | null;
  node: string;
  workerId: string | null;
  /** All that it holds, or held. */
  workerIds: string[];
  /** Catalogue id of its worker; null for the server, which holds no device. */
  model: string | null;
  state: MemberState;
  /** Its program said so, and it was running then. */
  isReady: boolean;
  /** `<generation>.<counter>` */
  fence: string;
  progress: { step: string; done: number; total: number | null; at: number } | null;
  /** Of its container; null while it runs, and where nobody said how it ended. */
  exitCode: number | null;
  /** Why it ended, or was told to; null where it simply was done. */
  reason: JobReason | null;
  /** The same in words, of whoever knew. */
  message: string | null;
  /** Of its inputs, what its node had kept; null where it keeps none for it, or has not told. */
  cachedBytes: number | null;
  /** Null when the node has not been heard since the coordinator started. */
  heartbeat: { at: number; ageMs: number; loopLagMs: number; diskFreeBytes: number } | null;
};
