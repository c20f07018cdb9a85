/** One job and its history after changes. Pure. */
import type { JobHistoryReply } from "@resontech/contracts/http-jobs";
import type { DashboardJobWithWorkers } from "@resontech/contracts/http-tasks";
import { wireState } from "@resontech/contracts/job-states";
import type { Told } from "./told.ts";

type Job = DashboardJobWithWorkers;

export function applyToJob(job: Job, { at, change }: Told): Job {
  switch (change.kind) {
    case "job":
      return {
        ...job,
        state: wireState(change.to),
        detail: { ...job.detail, state: change.to, reason: change.reason, since: at },
      };
    case "member":
      return ofMember(job, change.member, (member) => ({ ...member, state: change.to }));
    case "progress": {
      const { step, done, total } = change;
      return ofMember(job, change.member, (member) => ({
        ...member,
        progress: { step, done, total, at },
      }));
    }
    case "waiting":
      return { ...job, detail: { ...job.detail, waitingFor: change.why } };
    case "round": {
      const total = change.total ?? job.detail.rounds.total;
      const { done } = job.detail.rounds;
      const rounds = {
        current: change.round,
        total,
        done: change.phase === "ended" ? done + 1 : done,
      };
      return { ...job, detail: { ...job.detail, rounds } };
    }
    default:
      return job;
  }
}

/** What only the rows tell whole: a new state with its times, who takes part, what a job warns of. */
const READ_AGAIN: readonly Told["change"]["kind"][] = [
  ...(["job", "member-added", "warning", "explained"] as const),
];

/** Whether the change says all that there is to say; else the rows are read again. */
export function isTold({ change }: Told): boolean {
  return !READ_AGAIN.includes(change.kind);
}

function ofMember(
  job: Job,
  id: string,
  change: (member: Job["workers"][number]) => Job["workers"][number],
): Job {
  return {
    ...job,
    workers: job.workers.map((member) => (member.id === id ? change(member) : member)),
  };
}

export function applyToHistory(history: JobHistoryReply, { at, change }: Told): JobHistoryReply {
  switch (change.kind) {
    case "job":
    case "member": {
      if (history.events.some(({ journal }) => journal === change.journal)) return history;
      const member = "member" in change ? memberOf(history, change.member) : null;
      const { journal, from, to, event, reason } = change;
      const attempt = numberOf(history, change.attempt);
      return {
        ...history,
        events: [...history.events, { journal, at, attempt, member, from, to, event, reason }],
      };
    }
    case "round": {
      const attempt = numberOf(history, change.attempt) ?? 0;
      const isIt = (one: { attempt: number; round: number }) =>
        one.attempt === attempt && one.round === change.round;
      const before = history.rounds.find(isIt) ?? {
        ...{ attempt, round: change.round, startedAt: null, endedAt: null },
        ...{ sites: [], hasCheckpoint: false, isFinite: null },
      };
      const round =
        change.phase === "started"
          ? { ...before, startedAt: at }
          : { ...before, endedAt: at, isFinite: change.isFinite ?? null };
      return { ...history, rounds: [...history.rounds.filter((one) => !isIt(one)), round] };
    }
    case "checkpoint": {
      const attempt = numberOf(history, change.attempt);
      return {
        ...history,
        rounds: history.rounds.map((round) =>
          round.attempt === attempt && round.round === change.round
            ? { ...round, hasCheckpoint: true }
            : round,
        ),
      };
    }
    default:
      return history;
  }
}

function numberOf({ attempts }: JobHistoryReply, id: string | null): number | null {
  return attempts.find((attempt) => attempt.id === id)?.number ?? null;
}

/** Finds the member as an earlier event told of it. */
function memberOf({ events }: JobHistoryReply, id: string) {
  return events.find(({ member }) => member?.id === id)?.member ?? { id, role: "", site: null };
}
