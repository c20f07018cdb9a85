/** How each state of a job, a member or a node is told: a word, a shape, and one of five tones. Pure. */
import type { JobState, MemberState } from "@resontech/contracts/job-states";
import type { NodeState } from "@resontech/contracts/node-states";

export type Tone = "good" | "busy" | "wait" | "bad" | "quiet";
export type StateWord = {
  word: string;
  tone: Tone;
  shape: "ring" | "dot" | "half" | "tick" | "cross" | "dash";
};

const of = (word: string, tone: Tone, shape: StateWord["shape"]): StateWord => ({
  word,
  tone,
  shape,
});

const JOB: Record<JobState, StateWord> = {
  ACCEPTED: of("accepted", "wait", "ring"),
  QUEUED: of("waits", "wait", "ring"),
  HELD: of("held", "wait", "ring"),
  RESERVED: of("placed", "busy", "half"),
  PROVISIONING: of("prepares", "busy", "half"),
  STAGING: of("fetches data", "busy", "half"),
  RUNNING: of("runs", "busy", "dot"),
  PREEMPTING: of("gives way", "wait", "half"),
  RECOVERING: of("recovers", "wait", "half"),
  FINALIZING: of("saves results", "busy", "half"),
  STOPPING: of("stops", "wait", "half"),
  SUCCEEDED: of("finished", "good", "tick"),
  FAILED: of("failed", "bad", "cross"),
  CANCELLED: of("cancelled", "quiet", "dash"),
  EXPIRED: of("ran out of time", "bad", "cross"),
  REJECTED: of("rejected", "bad", "cross"),
};

const MEMBER: Record<MemberState, StateWord> = {
  LEASED: of("reserved", "wait", "ring"),
  STARTING: of("starts", "busy", "half"),
  RUNNING: of("runs", "busy", "dot"),
  DRAINING: of("ends", "busy", "half"),
  RELEASING: of("cleans up", "busy", "half"),
  RELEASED: of("gone", "quiet", "tick"),
  LOST: of("lost", "bad", "cross"),
  FENCED: of("fenced", "bad", "cross"),
  QUARANTINED: of("quarantined", "bad", "cross"),
};

const NODE: Record<NodeState, StateWord> = {
  JOINED: of("joined", "wait", "half"),
  READY: of("ready", "good", "tick"),
  SUSPECT: of("silent", "wait", "half"),
  DEAD: of("dead", "bad", "cross"),
  REVOKED: of("removed", "quiet", "dash"),
};

export function jobWord(state: JobState): StateWord {
  return JOB[state];
}

/** What a deployment is there for, and its only good end, have words of their own. */
const DEPLOYMENT: Partial<Record<JobState, StateWord>> = {
  RUNNING: of("answers", "good", "dot"),
  CANCELLED: of("stopped", "quiet", "dash"),
};

export function deploymentWord(state: JobState): StateWord {
  return DEPLOYMENT[state] ?? JOB[state];
}

export function memberWord(state: MemberState): StateWord {
  return MEMBER[state];
}

export function nodeWord(state: NodeState): StateWord {
  return NODE[state];
}
