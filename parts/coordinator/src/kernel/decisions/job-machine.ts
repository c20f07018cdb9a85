/**
 * The job's machine as one table: `(state, event) → (state, effects)`. What is not in it does not happen: an event that finds
 * its job elsewhere is stale and is dropped. Drawn in docs/developer/kernel.md; test/kernel/decisions/job-machine.test.ts walks every pair.
 */
import type { JobState } from "@resontech/contracts/job-states";

export const JOB_MACHINE_EVENTS = [
  /** Within the transaction that makes the row. */
  "enqueue",
  "reject",
  "hold",
  "unhold",
  /** A plan of the placement cycle was applied. */
  "place",
  /** Every member's node knows of it. */
  "claim",
  /** Inputs or image began to arrive. */
  "stage",
  /** The payload runs, all members present. */
  "start",
  /** The payload ended well. */
  "finish",
  /** The model is stored. */
  "store",
  /** An infrastructure fault ended the attempt. */
  "fault",
  /** After a fault: nothing of the attempt is left, budget is. */
  "requeue",
  /** After a fault: the budget is spent. */
  "give-up",
  "preempt",
  /** Its members let go, or were waited for long enough. */
  "vacate",
  /** Asked to end: by a person, by its own failure, by its stated time. Legal in every living state. */
  "stop",
  /** The three ends of STOPPING, by the terminal state of its reason. */
  "stopped-cancelled",
  "stopped-failed",
  "stopped-expired",
] as const;
export type JobEvent = (typeof JOB_MACHINE_EVENTS)[number];

export type JobEffect =
  /** Make attempt, members, fences and leases of the plan. */
  | "create-attempt"
  /** Set `desired: stop` on every member that has not ended, and tell their nodes. */
  | "stop-members"
  /** Ask the lead to commit, where it can, and let the others go on meanwhile; else as `stop-members`. */
  | "commit-first"
  /** Set `desired: stop` on all but the lead: its outputs decide now. */
  | "stop-others"
  /** Withdraw the authority of members that still hold any, end the attempt, forget its CA key. */
  | "end-attempt"
  /** As `end-attempt`, but the others may bring their last logs home. */
  | "close-attempt"
  /** Look for workers. */
  | "place-soon";

export type JobStep = { to: JobState; effects: readonly JobEffect[] };
type Row = Partial<Record<JobEvent, JobStep>>;

const to = (state: JobState, ...effects: JobEffect[]): JobStep => ({ to: state, effects });
const STOP: Row = { stop: to("STOPPING", "stop-members") };
const FAULT: Row = { fault: to("RECOVERING", "stop-members") };
/** What does not run yet has nothing to commit: whoever asks for it vacates it in the same transaction. */
const PREEMPT: Row = { preempt: to("PREEMPTING", "stop-members") };
const START: Row = { start: to("RUNNING") };

export const JOB_MACHINE: Record<JobState, Row> = {
  ACCEPTED: {
    ...STOP,
    enqueue: to("QUEUED", "place-soon"),
    // It is to start after other jobs.
    hold: to("HELD"),
    reject: to("REJECTED"),
  },
  QUEUED: { ...STOP, hold: to("HELD"), place: to("RESERVED", "create-attempt") },
  HELD: { ...STOP, unhold: to("QUEUED", "place-soon") },
  RESERVED: { ...STOP, ...FAULT, ...PREEMPT, ...START, claim: to("PROVISIONING") },
  PROVISIONING: { ...STOP, ...FAULT, ...PREEMPT, ...START, stage: to("STAGING") },
  STAGING: { ...STOP, ...FAULT, ...PREEMPT, ...START },
  RUNNING: {
    ...STOP,
    ...FAULT,
    finish: to("FINALIZING", "stop-others"),
    preempt: to("PREEMPTING", "commit-first"),
  },
  PREEMPTING: {
    ...STOP,
    finish: to("FINALIZING", "stop-others"),
    vacate: to("QUEUED", "end-attempt", "place-soon"),
  },
  RECOVERING: {
    ...STOP,
    requeue: to("QUEUED", "end-attempt", "place-soon"),
    "give-up": to("FAILED", "end-attempt"),
  },
  FINALIZING: { ...STOP, ...FAULT, store: to("SUCCEEDED", "close-attempt") },
  STOPPING: {
    "stopped-cancelled": to("CANCELLED", "end-attempt"),
    "stopped-failed": to("FAILED", "end-attempt"),
    "stopped-expired": to("EXPIRED", "end-attempt"),
  },
  SUCCEEDED: {},
  FAILED: {},
  CANCELLED: {},
  EXPIRED: {},
  REJECTED: {},
};

/** Answers where an event leads; null when it finds the job where it can't happen. */
export function stepJob(state: JobState, event: JobEvent): JobStep | null {
  return JOB_MACHINE[state][event] ?? null;
}
