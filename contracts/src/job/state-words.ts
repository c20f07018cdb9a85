/**
 * What people call the states of jobs and members, and how they ask for them: one table for page, shell, API and mails. The four words of the public
 * API stand in job-states.ts. Pure.
 */
import {
  JOB_STATES,
  type JobState,
  type MemberState,
  WIRE_STATES,
  wireState,
} from "./job-states.ts";

/** What a job is told to be, in nine words. How it got there stands in its events. */
export const JOB_WORDS: Readonly<Record<JobState, JobWord>> = {
  ACCEPTED: "waiting",
  QUEUED: "waiting",
  HELD: "waiting",
  RESERVED: "starting",
  PROVISIONING: "starting",
  STAGING: "starting",
  RUNNING: "running",
  // Its members stop, and then it waits for a place again.
  PREEMPTING: "making way",
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
  | "making way"
  | "finishing"
  | "finished"
  | "failed"
  | "cancelled"
  | "timed out";

/** Of deployments: to be stopped is their only good end. */
export const DEPLOYMENT_WORDS: Readonly<Record<JobState, JobWord | "stopped">> = {
  ...JOB_WORDS,
  CANCELLED: "stopped",
};

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

/** The nine, in the order of a run. */
export const ALL_JOB_WORDS = [
  ...["waiting", "starting", "running", "making way", "finishing"],
  ...["finished", "failed", "timed out", "cancelled"],
] as JobWord[];

/** States that one word stands for. */
export function statesOf(word: JobWord): JobState[] {
  return JOB_STATES.filter((state) => JOB_WORDS[state] === word);
}

/** How a word stands in an address and behind `--state`: without a blank. */
export function queryWord(word: JobWord): string {
  return word.replace(" ", "-");
}

/** Reports that there is no such state. */
export class UnknownState extends Error {
  readonly code = "unknown_state";

  /** @param others names that would do beside the nine words */
  constructor(asked: string, others: readonly string[]) {
    const words = ALL_JOB_WORDS.map(queryWord).join(", ");
    super(`there is no state ${JSON.stringify(asked)}: say ${words}, or ${others.join(", ")}`);
  }
}

/**
 * What the API is asked for, `a,b`: these; `-a,-b`: all but these. Exclusions narrow what is named. A name in small letters
 * is one of the nine words, one in capitals an exact state, as answers have it. @throws UnknownState
 */
export function readStates(text: string): JobState[] {
  return selected(text, (word) => JOB_STATES.filter((state) => state === word), JOB_STATES);
}

/**
 * What a person asks a shell for: the same, but a name in capitals is one of the four of the public API, as the Python client
 * shows it. @throws UnknownState
 */
export function readAskedStates(text: string): JobState[] {
  return selected(
    text,
    (word) => JOB_STATES.filter((state) => wireState(state) === word),
    WIRE_STATES,
  );
}

function selected(
  text: string,
  inCapitals: (word: string) => JobState[],
  others: readonly string[],
): JobState[] {
  const statesNamed = (word: string): JobState[] => {
    const known = ALL_JOB_WORDS.find((one) => one === word || queryWord(one) === word);
    const states = known === undefined ? inCapitals(word) : statesOf(known);
    if (states.length === 0) throw new UnknownState(word, others);
    return states;
  };
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
