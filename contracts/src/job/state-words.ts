/**
 * What people call the states of jobs and members, and how they ask for them: one table for page, shell, API and mails. The four words of the public
 * API stand in job-states.ts. Pure.
 */
import { JOB_STATES, type JobState, type MemberState } from "./job-states.ts";

/** What a job is told to be, in eight words. How it got there stands in its events. */
export const JOB_WORDS: Readonly<Record<JobState, JobWord>> = {
  ACCEPTED: "waiting",
  QUEUED: "waiting",
  HELD: "waiting",
  RESERVED: "starting",
  PROVISIONING: "starting",
  STAGING: "starting",
  RUNNING: "running",
  // Its members stop, and it waits for a place again.
  PREEMPTING: "waiting",
  RECOVERING: "starting",
  FINALIZING: "finishing",
  STOPPING: "finishing",
  SUCCEEDED: "finished",
  FAILED: "failed",
  CANCELLED: "cancelled",
  EXPIRED: "timed out",
  REJECTED: "failed",
};

export type JobWord =
  | "waiting"
  | "starting"
  | "running"
  | "finishing"
  | "finished"
  | "failed"
  | "cancelled"
  | "timed out";

export const MEMBER_WORDS: Readonly<Record<MemberState, string>> = {
  LEASED: "waiting",
  STARTING: "starting",
  RUNNING: "running",
  DRAINING: "finishing",
  RELEASING: "finishing",
  RELEASED: "ended",
  LOST: "lost",
  // Its node came back too late to be believed.
  FENCED: "lost",
  QUARANTINED: "quarantined",
};

/** Kinds of state that people ask for. */
export const STATE_GROUPS = {
  waiting: ["ACCEPTED", "QUEUED", "HELD", "RESERVED", "PROVISIONING", "STAGING", "RECOVERING"],
  running: ["RUNNING", "PREEMPTING", "FINALIZING", "STOPPING"],
  finished: ["SUCCEEDED"],
  failed: ["FAILED", "EXPIRED", "REJECTED"],
  cancelled: ["CANCELLED"],
} as const satisfies Record<string, readonly JobState[]>;

/** Reports that there is no such state. */
export class UnknownState extends Error {
  readonly code = "unknown_state";

  constructor(word: string) {
    super(
      `there is no state ${JSON.stringify(word)}: say ${Object.keys(STATE_GROUPS).join(", ")}, or ${JOB_STATES.join(", ")}`,
    );
  }
}

/**
 * `A,B`: these; `-A,-B`: all but these. Exclusions narrow what is named. A name in capitals is one state, one in small letters a group.
 * @throws UnknownState
 */
export function readStates(text: string): JobState[] {
  const words = text.split(",").map((word) => word.trim());
  const read = (left: boolean): JobState[] =>
    words
      .filter((word) => word.startsWith("-") === left)
      .flatMap((word) => statesNamed(word.replace(/^-/, "")));
  const [named, leftOut] = [read(false), read(true)];
  return JOB_STATES.filter(
    (state) => (named.length === 0 || named.includes(state)) && !leftOut.includes(state),
  );
}

function statesNamed(word: string): readonly JobState[] {
  const group = Object.entries(STATE_GROUPS).find(([name]) => name === word);
  if (group !== undefined) return group[1];
  const state = JOB_STATES.find((one) => one === word);
  if (state === undefined) throw new UnknownState(word);
  return [state];
}
