/** Every state's deadline and what its passing means. Milliseconds; test/kernel/decisions/deadlines.test.ts pins the figures. */
import type { JobState, MemberState } from "@resontech/contracts/job-states";
import type { JobReason } from "@resontech/contracts/job-reasons";

const SECOND = 1000;
const HOUR = 3_600 * SECOND;
/** Slowest transfer that is still taken for work. */
const BYTES_PER_MS = 20_000_000 / SECOND;

export const DEADLINES = {
  reservedMs: 30 * SECOND,
  provisioningMs: 120 * SECOND,
  /** Without bytes received, or a layer or file unpacked. */
  stallMs: 120 * SECOND,
  recoveringMs: 120 * SECOND,
  /** To commit; who has not by then is told to stop. */
  preemptingMs: 120 * SECOND,
  /** From `stop` to the kill of what did not end by itself. */
  stopGraceMs: 30 * SECOND,
  /** Grace, kill, and the last log lines on their way. */
  stoppingMs: 60 * SECOND,
  releasingMs: 120 * SECOND,
} as const;

/** How long it takes at the most until the workers of a job that makes way are free, or out of the pool: commit, stop, proof. */
export const LETS_GO_WITHIN_MS =
  DEADLINES.preemptingMs + DEADLINES.stoppingMs + DEADLINES.releasingMs;

export type DeadlineFacts = {
  now: number;
  stateSince: number;
  /** Bytes that the state has to move: inputs and image, or outputs. */
  bytes: number;
  /** The job's own limit. */
  expiresAt: number | null;
};

/** Answers the longest time for moving so many bytes, however steadily they trickle. */
export function transferLimitMs(bytes: number): number {
  return Math.max(HOUR, Math.ceil(bytes / BYTES_PER_MS));
}

/** When the state ends by itself unless something happens; null = never. `now` is an arrival or a sign of progress. */
export function jobDeadline(
  state: JobState,
  { now, stateSince, bytes, expiresAt }: DeadlineFacts,
): number | null {
  switch (state) {
    case "ACCEPTED":
    case "QUEUED":
    case "HELD":
    case "RUNNING":
      return expiresAt;
    case "RESERVED":
      return stateSince + DEADLINES.reservedMs;
    case "PROVISIONING":
      return now + DEADLINES.provisioningMs;
    case "STAGING":
    case "FINALIZING":
      return Math.min(now + DEADLINES.stallMs, stateSince + transferLimitMs(bytes));
    case "PREEMPTING":
      return Math.min(stateSince + DEADLINES.preemptingMs, expiresAt ?? Infinity);
    case "RECOVERING":
      return stateSince + DEADLINES.recoveringMs;
    case "STOPPING":
      return stateSince + DEADLINES.stoppingMs;
    case "SUCCEEDED":
    case "FAILED":
    case "CANCELLED":
    case "EXPIRED":
    case "REJECTED":
      return null;
  }
}

export type JobLapse =
  | { kind: "fault"; reason: JobReason }
  | { kind: "stop"; reason: JobReason }
  /** RECOVERING, PREEMPTING and STOPPING end: what did not let go is fenced. */
  | { kind: "end" };

/**
 * What a job's passed deadline means; null where there is none to pass.
 * @param isExpired the job's own limit has passed
 */
export function jobLapse(state: JobState, isExpired = false): JobLapse | null {
  switch (state) {
    case "ACCEPTED":
    case "QUEUED":
    case "HELD":
    case "RUNNING":
      return { kind: "stop", reason: "expired" };
    case "RESERVED":
    case "PROVISIONING":
      return { kind: "fault", reason: "provisioning_timeout" };
    case "STAGING":
      return { kind: "fault", reason: "staging_timeout" };
    case "FINALIZING":
      return { kind: "stop", reason: "output_missing" };
    case "PREEMPTING":
      // What it commits is its own time.
      return isExpired ? { kind: "stop", reason: "expired" } : { kind: "end" };
    case "RECOVERING":
    case "STOPPING":
      return { kind: "end" };
    case "SUCCEEDED":
    case "FAILED":
    case "CANCELLED":
    case "EXPIRED":
    case "REJECTED":
      return null;
  }
}

export type MemberDeadlineFacts = Omit<DeadlineFacts, "expiresAt"> & {
  desired: "run" | "stop";
  /** It joins a job that runs already, so the job's deadline does not speak for it. */
  isReplacement: boolean;
  /** Its payload runs and is not ready yet, and nobody but itself can wait for it. */
  isWarming: boolean;
  /** A dead node can prove nothing; it is asked again when it comes back. */
  isNodeAlive: boolean;
};

/** The same for a member. While it is to run, its job's deadline speaks for it. */
export function memberDeadline(state: MemberState, facts: MemberDeadlineFacts): number | null {
  const { now, stateSince, bytes, desired, isNodeAlive, isReplacement, isWarming } = facts;
  switch (state) {
    case "LEASED":
      if (isReplacement && desired === "run") return stateSince + DEADLINES.reservedMs;
      return desired === "stop" ? now + DEADLINES.stoppingMs : null;
    case "STARTING":
      if (isReplacement && desired === "run") return now + DEADLINES.provisioningMs;
      return desired === "stop" ? now + DEADLINES.stoppingMs : null;
    case "RUNNING":
      if (isWarming && desired === "run") return now + DEADLINES.stallMs;
      return desired === "stop" ? now + DEADLINES.stoppingMs : null;
    case "DRAINING":
      return Math.min(now + DEADLINES.stallMs, stateSince + transferLimitMs(bytes));
    case "RELEASING":
      return now + DEADLINES.releasingMs;
    case "FENCED":
      return isNodeAlive ? now + DEADLINES.releasingMs : null;
    case "LOST":
    case "RELEASED":
    case "QUARANTINED":
      return null;
  }
}

/** What a member's passed deadline means: withdraw its authority, or give its worker up. */
export function memberLapse(state: MemberState): "lose" | "quarantine" | null {
  switch (state) {
    case "LEASED":
    case "STARTING":
    case "RUNNING":
    case "DRAINING":
      return "lose";
    case "RELEASING":
    case "FENCED":
      return "quarantine";
    case "LOST":
    case "RELEASED":
    case "QUARANTINED":
      return null;
  }
}
