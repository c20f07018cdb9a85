/** What the members of an attempt, taken together, mean for their job. Pure; asked after every change until it says nothing. */
import type { JobReason } from "@resontech/contracts/job-reasons";
import type { JobState, MemberState } from "@resontech/contracts/job-states";
import type { JobEvent } from "./job-machine.ts";
import { isMemberOver, isMemberWorking, mayMemberWrite } from "./member-machine.ts";
import { reasonEntry } from "./reasons.ts";

export type MemberFacts = {
  id: string;
  /** Its end decides the attempt. */
  isLead: boolean;
  state: MemberState;
  desired: "run" | "stop";
  /** It told of bytes, staged inputs, a started container: anything past being asked. */
  hasProgress: boolean;
  isFinished: boolean;
  hasOutputs: boolean;
  reason: JobReason | null;
  isNodeAlive: boolean;
  /** Another member has its place: what it did counts no more, but it must still let go. */
  isReplaced: boolean;
};

export type AttemptFacts = {
  state: JobState;
  /** Why it stops or recovers; null while it does neither. */
  reason: JobReason | null;
  /** How many members beside the lead must live while it runs. */
  quorum: number;
  /** The lead has stored what the workload says must be there. */
  hasRequired: boolean;
  /** The payload tells no start: the job runs once all its members do. */
  startsWithMembers: boolean;
  /** The fault that it recovers from leaves budget. */
  mayRetry: boolean;
  members: readonly MemberFacts[];
};

export type AttemptVerdict = { event: JobEvent; reason?: JobReason; blame?: string };

export function evaluateAttempt(attempt: AttemptFacts): AttemptVerdict | null {
  switch (attempt.state) {
    case "RESERVED":
      return (
        faultOf(attempt) ??
        (attempt.members.every(({ state }) => state !== "LEASED") ? { event: "claim" } : null)
      );
    case "PROVISIONING":
      return (
        faultOf(attempt) ??
        (attempt.members.some(({ hasProgress }) => hasProgress) ? { event: "stage" } : null)
      );
    case "STAGING":
      return faultOf(attempt) ?? startOf(attempt);
    case "RUNNING":
      return faultOf(attempt) ?? finishOf(attempt);
    case "PREEMPTING":
      return leadUserFaultOf(attempt) ?? finishOf(attempt) ?? vacancyOf(attempt);
    case "FINALIZING":
      return outcomeOf(attempt);
    case "RECOVERING":
      return userFaultOf(attempt) ?? recoveryOf(attempt);
    case "STOPPING":
      return attempt.members.some(({ state }) => mayMemberWrite(state))
        ? null
        : { event: stoppedEvent(attempt.reason) };
    case "ACCEPTED":
    case "QUEUED":
    case "HELD":
    case "SUCCEEDED":
    case "FAILED":
    case "CANCELLED":
    case "EXPIRED":
    case "REJECTED":
      return null;
  }
}

/** The end that STOPPING comes to for this reason. */
export function stoppedEvent(reason: JobReason | null): JobEvent {
  switch (reason === null ? "FAILED" : reasonEntry(reason).ends) {
    case "CANCELLED":
      return "stopped-cancelled";
    case "EXPIRED":
      return "stopped-expired";
    case "FAILED":
    case "REJECTED":
      return "stopped-failed";
  }
}

/** Why a member can't do its part any more; null while it can, or has done it. */
function failureOf(member: MemberFacts): JobReason | null {
  if (member.reason !== null) return member.reason;
  switch (member.state) {
    case "LOST":
    case "FENCED":
      return "node_lost";
    case "RELEASED":
    case "QUARANTINED":
    case "RELEASING":
      // It let go of its own accord, without having ended.
      return member.desired === "stop" || member.isFinished || member.hasOutputs
        ? null
        : "agent_fault";
    case "LEASED":
    case "STARTING":
    case "RUNNING":
    case "DRAINING":
      return null;
  }
}

/** Tells whether an attempt goes on without those that ended. Before the start all must be there; afterwards the job's own quorum decides, whatever ended the others. */
function isCarried(attempt: AttemptFacts): boolean {
  return attempt.state === "RUNNING" && livingOthers(attempt).length >= attempt.quorum;
}

function livingOthers({ members }: AttemptFacts): MemberFacts[] {
  return members.filter(
    (member) => !member.isLead && !member.isReplaced && failureOf(member) === null,
  );
}

/** All run, or have run already: a short payload may be over before the last one is looked at. */
function startOf({ members, startsWithMembers }: AttemptFacts): AttemptVerdict | null {
  const hasStarted = ({ state }: MemberFacts) => state !== "LEASED" && state !== "STARTING";
  return startsWithMembers && members.every(hasStarted) ? { event: "start" } : null;
}

function faultOf(attempt: AttemptFacts): AttemptVerdict | null {
  const byUser = userFaultOf(attempt);
  if (byUser !== null) return byUser;
  const lead = attempt.members.find(({ isLead }) => isLead);
  const leadFailure = lead === undefined ? "agent_fault" : failureOf(lead);
  if (leadFailure !== null) return { event: "fault", reason: leadFailure, blame: lead?.id };

  const others = attempt.members.filter(({ isLead, isReplaced }) => !isLead && !isReplaced);
  const failed = others.find((member) => failureOf(member) !== null);
  if (failed === undefined) return null;
  return isCarried(attempt)
    ? null
    : { event: "fault", reason: failureOf(failed) ?? "quorum_lost", blame: failed.id };
}

/** A failure that running again would repeat, whoever else failed because of it. */
function userFaultOf(attempt: AttemptFacts): AttemptVerdict | null {
  const failed = attempt.members.find(
    ({ isLead, reason, isReplaced }) =>
      !isReplaced &&
      reason !== null &&
      reasonEntry(reason).retry === "never" &&
      (isLead || !isCarried(attempt)),
  );
  return failed === undefined ? null : { event: "stop", reason: failed.reason!, blame: failed.id };
}

/** While it makes way the lead's word alone counts: the others end with it, in whatever way. No fault of the platform spends a retry. */
function leadUserFaultOf({ members }: AttemptFacts): AttemptVerdict | null {
  const lead = members.find(({ isLead }) => isLead);
  const reason = lead?.reason ?? null;
  return lead === undefined || reason === null || reasonEntry(reason).retry !== "never"
    ? null
    : { event: "stop", reason, blame: lead.id };
}

function finishOf({ members }: AttemptFacts): AttemptVerdict | null {
  return members.some(({ isLead, isFinished }) => isLead && isFinished)
    ? { event: "finish" }
    : null;
}

function vacancyOf({ members }: AttemptFacts): AttemptVerdict | null {
  return members.every(isQuiet) ? { event: "vacate" } : null;
}

/** Whether nothing more will be committed of what makes way: the lead was told to stop, has ended, or misses others that it needs. */
export function isCommitOver(attempt: AttemptFacts): boolean {
  const lead = attempt.members.find(({ isLead }) => isLead);
  if (lead === undefined || lead.desired === "stop" || !isMemberWorking(lead.state)) return true;
  return livingOthers(attempt).length < attempt.quorum;
}

/** The lead alone decides: the others have given all they had. */
function outcomeOf(attempt: AttemptFacts): AttemptVerdict | null {
  const lead = attempt.members.find(({ isLead }) => isLead);
  if (lead === undefined) return { event: "fault", reason: "agent_fault" };
  if (lead.hasOutputs)
    return attempt.hasRequired
      ? { event: "store" }
      : { event: "stop", reason: "output_missing", blame: lead.id };
  const failure =
    lead.reason ??
    (mayMemberWrite(lead.state) ? null : lead.state === "FENCED" ? "node_lost" : "agent_fault");
  if (failure === null) return null;
  const event = reasonEntry(failure).retry === "never" ? "stop" : "fault";
  return { event, reason: failure, blame: lead.id };
}

/** Over, or fenced on a node that can prove nothing: then nobody need wait for it. */
export function isQuiet({
  state,
  isNodeAlive,
}: Pick<MemberFacts, "state" | "isNodeAlive">): boolean {
  return isMemberOver(state) || ((state === "FENCED" || state === "LOST") && !isNodeAlive);
}

/** Members beside the lead of a running attempt that were lost and have let go: others may take their places while the quorum holds. */
export function vacanciesOf({
  state,
  members,
}: AttemptFacts): { member: string; reason: JobReason }[] {
  if (state !== "RUNNING") return [];
  return members.flatMap((member) => {
    const reason =
      !member.isLead && !member.isReplaced && isQuiet(member) ? failureOf(member) : null;
    return reason === null ? [] : [{ member: member.id, reason }];
  });
}

function recoveryOf({ members, mayRetry }: AttemptFacts): AttemptVerdict | null {
  return members.every(isQuiet) ? { event: mayRetry ? "requeue" : "give-up" } : null;
}
