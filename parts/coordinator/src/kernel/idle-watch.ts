import type { GroupCommit } from "../db/group-commit.ts";
import type { WriteHandle } from "../db/open-database.ts";
import {
  idleEndText,
  idleText,
  IDLING,
  judgeIdling,
  judgeUse,
  type SeenUse,
} from "./decisions/idling.ts";
import { pathOf } from "./decisions/shares.ts";
import type { DeviceUses } from "./device-uses.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { ShareTable } from "./share-table.ts";
import type { ToldUses } from "./told-uses.ts";
import type { Transitions } from "./transitions.ts";
import { IDLES } from "./warning-table.ts";
import { jobClassOf } from "./workload.ts";

const LOOK_EVERY_MS = 30_000;

type RunningJob = { id: string; kind: string; job_class: string | null; project: string };
type MemberOfJob = { id: string; worker: string | null; isDevice: number };
type Counter = { at: number; cpuMs: number };

export type IdleWatchParts = {
  db: WriteHandle;
  commit: GroupCommit;
  tables: Pick<KernelTables, "clock" | "jobs" | "warnings" | "workloads">;
  transitions: Pick<Transitions, "moveJob" | "reconcile">;
  shares: Pick<ShareTable, "all">;
  toldUses: Pick<ToldUses, "members">;
  deviceUses: Pick<DeviceUses, "percentOf">;
};

/**
 * Warns interactive jobs that use nothing for longer than their project lets them, and ends them ten minutes later. What was used is known in memory alone:
 * after a restart, and after each time in which a node did not say, the time begins anew.
 */
export class IdleWatch {
  readonly #parts: IdleWatchParts;
  readonly #running;
  readonly #members;
  #nextAt = Number.NEGATIVE_INFINITY;
  readonly #counters = new Map<string, Counter>();
  readonly #idleSince = new Map<string, number>();
  readonly #warnedAt = new Map<string, number>();

  constructor(parts: IdleWatchParts) {
    this.#parts = parts;
    const { db } = parts;
    this.#running = db.prepare<[], RunningJob>(
      `SELECT id, kind, job_class, project_id AS project FROM jobs WHERE state = 'RUNNING' AND desired = 'run' AND job_class IS NOT NULL`,
    );
    this.#members = db.prepare<[string], MemberOfJob>(
      `SELECT members.id, members.worker_id AS worker, coalesce(workers.kind = 'gpu', 0) AS isDevice
       FROM members JOIN attempts ON attempts.id = members.attempt_id AND attempts.ended_at IS NULL LEFT JOIN workers ON workers.id = members.worker_id
       WHERE members.job_id = ? AND members.state IN ('LEASED', 'STARTING', 'RUNNING')`,
    );
  }

  async look(): Promise<void> {
    const { workloads, clock } = this.#parts.tables;
    const now = clock.monotonic();
    if (now < this.#nextAt) return;
    this.#nextAt = now + LOOK_EVERY_MS;
    const jobs = this.#running
      .all()
      .filter((job) => workloads.has(job.kind) && jobClassOf(workloads, job) === "interactive");
    this.#forgetOthers(jobs);
    if (jobs.length === 0) return;
    const told = new Map(this.#parts.toldUses.members().map(({ member, use }) => [member, use]));
    for (const job of jobs) {
      const uses = this.#members.all(job.id).map((member) => this.#useOf(member, told, now));
      if (judgeUse(uses) === "idle")
        this.#idleSince.set(job.id, this.#idleSince.get(job.id) ?? now);
      else this.#idleSince.delete(job.id);
      await this.#judge(job, now);
    }
  }

  async #judge({ id, project }: RunningJob, now: number): Promise<void> {
    const { commit, tables, transitions } = this.#parts;
    const { warnings, jobs } = tables;
    const limitMs = this.#limitOf(project);
    const verdict = judgeIdling({
      ...{ now, limitMs, idleSince: this.#idleSince.get(id) ?? null },
      warnedAt: this.#warnedAt.get(id) ?? null,
      isTold: warnings.times(id, IDLES.site, IDLES.topic) > 0,
    });
    if (verdict === null) return;
    if (verdict === "warn") this.#warnedAt.set(id, now);
    if (verdict === "forget") this.#warnedAt.delete(id);
    await commit.run(() => {
      const job = jobs.get(id);
      // It may have ended meanwhile, or be about to.
      if (job?.state !== "RUNNING" || job.desired === "stop") return;
      if (verdict === "forget") return warnings.forget(id, IDLES.site, IDLES.topic);
      if (verdict === "warn") return warnings.note(id, { ...IDLES, text: idleText(limitMs) });
      transitions.moveJob(id, "stop", { reason: "idle", message: idleEndText(limitMs) });
      transitions.reconcile(id);
    });
  }

  /** The shortest that a share on the way up says. */
  #limitOf(project: string): number {
    const shares = new Map(this.#parts.shares.all().map((share) => [share.id, share]));
    const minutes = pathOf(shares, project).flatMap(
      ({ interactiveIdleMinutes }) => interactiveIdleMinutes ?? [],
    );
    return minutes.length === 0 ? IDLING.limitMs : Math.min(...minutes) * 60_000;
  }

  /** Since the last look. Of a member whose counter began anew nobody knows yet. */
  #useOf(
    { id, worker, isDevice }: MemberOfJob,
    told: ReadonlyMap<string, { cpuMs?: number }>,
    now: number,
  ): SeenUse {
    const cpuMs = told.get(id)?.cpuMs;
    const before = this.#counters.get(id);
    if (cpuMs === undefined) this.#counters.delete(id);
    else this.#counters.set(id, { at: now, cpuMs });
    const isKnown = cpuMs !== undefined && before !== undefined && cpuMs >= before.cpuMs;
    return {
      cpuShare: isKnown ? (cpuMs - before.cpuMs) / Math.max(1, now - before.at) : null,
      device:
        isDevice === 0 || worker === null
          ? null
          : { percent: this.#parts.deviceUses.percentOf(worker) },
    };
  }

  #forgetOthers(jobs: readonly RunningJob[]): void {
    const ids = new Set(jobs.map(({ id }) => id));
    for (const known of [this.#idleSince, this.#warnedAt])
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    if (jobs.length === 0) this.#counters.clear();
  }
}
