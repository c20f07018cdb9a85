/**
 * The member's machine as one table: `(state, event) → (state, effects)`. A member holds its worker until release is proven
 * (RELEASED) or given up (QUARANTINED), whatever became of the job.
 */
import type { MemberState } from "@resontech/contracts/job-states";

export const MEMBER_MACHINE_EVENTS = [
  /** Its node fetched a desired set that has it. */
  "claim",
  /** Its container runs. */
  "run",
  /** Its payload ended, well or not; outputs and logs follow. */
  "drain",
  /** Everything it has is stored. */
  "upload",
  /** Its agent proved that nothing is left. */
  "release",
  /** Its agent said that something is left, or did not say in time that nothing is. */
  "quarantine",
  /** Its node is gone, or it ignored what it was told: authority must be withdrawn without its help. */
  "lose",
  /** Withdrawn: a newer fence is in the row. */
  "fence",
] as const;
export type MemberMachineEvent = (typeof MEMBER_MACHINE_EVENTS)[number];

export type MemberEffect =
  /** The device is in use from now on. */
  | "begin-use"
  /** The device is in use no longer; releasing it is the platform's time. */
  | "end-use"
  /** A newer fence, open uploads aborted, `desired: stop`. */
  | "revoke-fence"
  /** The worker goes back to the pool. */
  | "free-worker"
  /** The worker is taken from the pool until an operator has looked at it. */
  | "quarantine-worker";

export type MemberStep = { to: MemberState; effects: readonly MemberEffect[] };
type Row = Partial<Record<MemberMachineEvent, MemberStep>>;

const to = (state: MemberState, ...effects: MemberEffect[]): MemberStep => ({ to: state, effects });
const LOSE: Row = { lose: to("LOST", "end-use") };
const RELEASE: Row = {
  release: to("RELEASED", "end-use", "free-worker"),
  quarantine: to("QUARANTINED", "end-use", "quarantine-worker"),
};

export const MEMBER_MACHINE: Record<MemberState, Row> = {
  LEASED: { ...LOSE, ...RELEASE, claim: to("STARTING", "begin-use") },
  STARTING: {
    ...LOSE,
    ...RELEASE,
    run: to("RUNNING"),
    drain: to("DRAINING"),
    upload: to("RELEASING", "end-use"),
  },
  RUNNING: { ...LOSE, ...RELEASE, drain: to("DRAINING"), upload: to("RELEASING", "end-use") },
  DRAINING: { ...LOSE, ...RELEASE, upload: to("RELEASING", "end-use") },
  RELEASING: { ...LOSE, ...RELEASE },
  LOST: { fence: to("FENCED", "revoke-fence") },
  FENCED: { ...RELEASE },
  RELEASED: {},
  QUARANTINED: {},
};

/** Answers where an event leads; null when it finds the member where it can't happen. */
export function stepMember(state: MemberState, event: MemberMachineEvent): MemberStep | null {
  return MEMBER_MACHINE[state][event] ?? null;
}

/** Its worker is not held any more. */
export function isMemberOver(state: MemberState): boolean {
  return state === "RELEASED" || state === "QUARANTINED";
}

/** It may still write outputs under its fence. */
export function mayMemberWrite(state: MemberState): boolean {
  return state === "LEASED" || state === "STARTING" || state === "RUNNING" || state === "DRAINING";
}

/** Its payload may still be at work. */
export function isMemberWorking(state: MemberState): boolean {
  return state === "LEASED" || state === "STARTING" || state === "RUNNING";
}
