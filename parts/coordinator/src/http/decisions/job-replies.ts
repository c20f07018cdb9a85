/** A job as the public client reads it: four words, the exact state beside them in `detail`. */
import type {
  DashboardJob,
  DashboardJobWithWorkers,
  JobStateReply,
  TaskReply,
} from "@resontech/contracts/http-tasks";
import { wireState } from "@resontech/contracts/job-states";
import type { JobMemberView, JobView } from "../../kernel/job-view.ts";

export function taskReply(job: JobView): TaskReply {
  return { id: job.id, name: job.name, status: wireState(job.state), ...common(job) };
}

export function dashboardJob(job: JobView): DashboardJob {
  return { jobId: job.id, jobName: job.name, state: wireState(job.state), ...common(job) };
}

/** @param project whose job has its workers, where the caller may know @param expectedStart of one that waits */
export function dashboardJobWithWorkers(
  job: JobView,
  {
    project,
    expectedStart,
  }: { project: { id: string; name: string } | null; expectedStart: number | null },
): DashboardJobWithWorkers {
  const { madeWay } = job;
  return {
    ...dashboardJob(job),
    madeWay:
      madeWay === null
        ? null
        : {
            ...{ at: instant(madeWay.at), project, afterRound: madeWay.afterRound },
            expectedStart: instantOrNull(expectedStart),
          },
    workers: job.members.map(memberReply),
  };
}

export function jobStateReply(job: JobView): JobStateReply {
  const { id, kind, projectId, state, reason, attempt } = job;
  return {
    ...{ id, kind, projectId, state, reason, attempt, since: instant(job.stateSince) },
    createdAt: instant(job.createdAt),
    startedAt: instantOrNull(job.startedAt),
    endedAt: instantOrNull(job.endedAt),
  };
}

/** What every reply of a job says. */
export function jobDetail(job: JobView) {
  return common(job);
}

function common(job: JobView) {
  return {
    error: job.error === null ? null : `${job.error.code}: ${job.error.message}`,
    detail: {
      kind: job.kind,
      state: job.state,
      since: instant(job.stateSince),
      deadline: instantOrNull(job.deadlineAt),
      desired: job.desired,
      ...{ jobClass: job.jobClass, isPreemptible: job.isPreemptible },
      stoppedBy: job.stoppedBy,
      reason: job.reason,
      waitingFor: job.waitingFor,
      attempt: job.attempt,
      rounds: job.rounds,
      model: job.model,
      resumable: job.resumable,
      error: job.error,
    },
    warnings: job.warnings,
    outputPath: `/${job.outputRoot}`,
    createdAt: instant(job.createdAt),
    startedAt: instantOrNull(job.startedAt),
    endedAt: instantOrNull(job.endedAt),
  };
}

function memberReply(member: JobMemberView): DashboardJobWithWorkers["workers"][number] {
  const { id, role, site, node, workerId, workerIds, model, state, progress, heartbeat } = member;
  const { exitCode, reason, message, cachedBytes } = member;
  return {
    ...{ id, role, site, node, workerId, workerIds, model, state, exitCode, reason, message },
    cachedBytes,
    progress: progress === null ? null : { ...progress, at: instant(progress.at) },
    heartbeat: heartbeat === null ? null : { ...heartbeat, at: instant(heartbeat.at) },
  };
}

export function instant(ms: number): string {
  return new Date(ms).toISOString();
}

export function instantOrNull(ms: number | null): string | null {
  return ms === null ? null : instant(ms);
}
