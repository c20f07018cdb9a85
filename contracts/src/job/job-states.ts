/** Every state of a job, in the order of a run that succeeds; see the machine in docs/developer/kernel.md. */
export const JOB_STATES = [
  "ACCEPTED",
  "QUEUED",
  "HELD",
  "RESERVED",
  "PROVISIONING",
  "STAGING",
  "RUNNING",
  "PREEMPTING",
  "RECOVERING",
  "FINALIZING",
  "STOPPING",
  "SUCCEEDED",
  "FAILED",
  "CANCELLED",
  "EXPIRED",
  "REJECTED",
] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Every state of a member: one part of an attempt, with its own lease and fence. */
export const MEMBER_STATES = [
  "LEASED",
  "STARTING",
  "RUNNING",
  "DRAINING",
  "RELEASING",
  "RELEASED",
  "LOST",
  "FENCED",
  "QUARANTINED",
] as const;
export type MemberState = (typeof MEMBER_STATES)[number];

/** The only four words that cross the public API; the client turns any other word into "pending" and waits for ever. */
export const WIRE_STATES = ["QUEUED", "RUNNING", "FINISHED", "FAILED"] as const;
export type WireState = (typeof WIRE_STATES)[number];

const WIRE_STATE = {
  ACCEPTED: "QUEUED",
  QUEUED: "QUEUED",
  HELD: "QUEUED",
  RESERVED: "QUEUED",
  PROVISIONING: "QUEUED",
  STAGING: "QUEUED",
  RECOVERING: "QUEUED",
  RUNNING: "RUNNING",
  PREEMPTING: "RUNNING",
  FINALIZING: "RUNNING",
  STOPPING: "RUNNING",
  SUCCEEDED: "FINISHED",
  FAILED: "FAILED",
  EXPIRED: "FAILED",
  REJECTED: "FAILED",
  CANCELLED: "FAILED",
} as const satisfies Record<JobState, WireState>;

export function wireState(state: JobState): WireState {
  return WIRE_STATE[state];
}

export const TERMINAL_JOB_STATES = [
  "SUCCEEDED",
  "FAILED",
  "CANCELLED",
  "EXPIRED",
  "REJECTED",
] as const satisfies JobState[];

export function isTerminal(state: JobState): boolean {
  return TERMINAL_JOB_STATES.some((terminal) => terminal === state);
}
