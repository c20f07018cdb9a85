/** How each state of a job, a member or a node is told: a word, a shape, and one of five tones. Pure. */
import type { JobState, MemberState } from "@resontech/contracts/job-states";
import { DEPLOYMENT_WORDS, JOB_WORDS, MEMBER_WORDS } from "@resontech/contracts/state-words";
import { NODE_WORDS, type NodeState } from "@resontech/contracts/node-states";

export type Tone = "good" | "busy" | "wait" | "bad" | "quiet";
export type StateWord = {
  word: string;
  tone: Tone;
  shape: "ring" | "dot" | "half" | "tick" | "cross" | "dash";
};

type Look = Pick<StateWord, "tone" | "shape">;
const looks = (tone: Tone, shape: StateWord["shape"]): Look => ({ tone, shape });

const JOB: Record<JobState, Look> = {
  ACCEPTED: looks("wait", "ring"),
  QUEUED: looks("wait", "ring"),
  HELD: looks("wait", "ring"),
  RESERVED: looks("busy", "half"),
  PROVISIONING: looks("busy", "half"),
  STAGING: looks("busy", "half"),
  RUNNING: looks("busy", "dot"),
  PREEMPTING: looks("wait", "half"),
  RECOVERING: looks("busy", "half"),
  FINALIZING: looks("busy", "half"),
  STOPPING: looks("busy", "half"),
  SUCCEEDED: looks("good", "tick"),
  FAILED: looks("bad", "cross"),
  CANCELLED: looks("quiet", "dash"),
  EXPIRED: looks("bad", "cross"),
  REJECTED: looks("bad", "cross"),
};

const MEMBER: Record<MemberState, Look> = {
  LEASED: looks("wait", "ring"),
  STARTING: looks("busy", "half"),
  RUNNING: looks("busy", "dot"),
  DRAINING: looks("busy", "half"),
  RELEASING: looks("busy", "half"),
  RELEASED: looks("quiet", "dash"),
  LOST: looks("bad", "cross"),
  FENCED: looks("bad", "cross"),
  QUARANTINED: looks("bad", "cross"),
};

const NODE: Record<NodeState, Look> = {
  JOINED: looks("wait", "half"),
  READY: looks("good", "tick"),
  SUSPECT: looks("wait", "half"),
  DEAD: looks("bad", "cross"),
  REVOKED: looks("quiet", "dash"),
};

export function jobWord(state: JobState): StateWord {
  return { word: JOB_WORDS[state], ...JOB[state] };
}

/** What a deployment is there for is good. */
const DEPLOYMENT: Partial<Record<JobState, Look>> = {
  RUNNING: looks("good", "dot"),
  CANCELLED: looks("quiet", "dash"),
};

export function deploymentWord(state: JobState): StateWord {
  return { word: DEPLOYMENT_WORDS[state], ...(DEPLOYMENT[state] ?? JOB[state]) };
}

export function memberWord(state: MemberState): StateWord {
  return { word: MEMBER_WORDS[state], ...MEMBER[state] };
}

export function nodeWord(state: NodeState): StateWord {
  return { word: NODE_WORDS[state], ...NODE[state] };
}
