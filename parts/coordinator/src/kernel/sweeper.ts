import type { GroupCommit } from "../db/group-commit.ts";
import type { WriteHandle } from "../db/open-database.ts";
import { LIVENESS } from "./decisions/liveness.ts";
import type { JobReason } from "@resontech/contracts/job-reasons";
import type { MemberRow } from "./rows.ts";
import { jobLapse, memberLapse } from "./decisions/deadlines.ts";
import { laggingMember } from "./decisions/lagging-member.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { Transitions } from "./transitions.ts";

/** As long as a node's silence is taken for less than its end. */
const GRACE_MS = LIVENESS.leaseMs + LIVENESS.deadAfterLeaseMs;

/** Carries out what a passed deadline means. Deadlines are columns: a restart forgets none. */
export class Sweeper {
  readonly #db: WriteHandle;
  readonly #commit: GroupCommit;
  readonly #tables: KernelTables;
  readonly #transitions: Transitions;

  constructor(
    db: WriteHandle,
    commit: GroupCommit,
    tables: KernelTables,
    transitions: Transitions,
  ) {
    this.#db = db;
    this.#commit = commit;
    this.#tables = tables;
    this.#transitions = transitions;
  }

  /**
   * While we were away no agent could tell of progress: what it should have told by then it may tell within a lease from now. A time that
   * the job states for itself goes on.
   */
  async giveGrace(): Promise<void> {
    const until = this.#tables.clock.now() + GRACE_MS;
    await this.#commit.run((db) => {
      db.prepare(
        `UPDATE jobs SET deadline_at = ? WHERE deadline_at < ?
           AND state IN ('RESERVED', 'PROVISIONING', 'STAGING', 'PREEMPTING', 'RECOVERING', 'FINALIZING', 'STOPPING')`,
      ).run(until, until);
      db.prepare("UPDATE members SET deadline_at = ? WHERE deadline_at < ?").run(until, until);
    });
  }

  /** What members did under a release that did not know their kind of job was only noted: it is judged now. */
  async reconcileAll(): Promise<void> {
    await this.#commit.run((db) => {
      const live = db
        .prepare<[], string>(
          "SELECT id FROM jobs WHERE ended_at IS NULL AND state NOT IN ('ACCEPTED', 'QUEUED', 'HELD')",
        )
        .pluck();
      for (const id of live.all()) this.#transitions.reconcile(id);
      this.#transitions.followMissedEnds();
    });
  }

  async sweep(): Promise<void> {
    const now = this.#tables.clock.now();
    // Jobs first: where both are late, the job's deadline says why.
    await Promise.all(
      this.#due("jobs", now).map((id) => this.#commit.run(() => this.#lapseJob(id, now))),
    );
    await Promise.all(
      this.#due("members", now).map((id) => this.#commit.run(() => this.#lapseMember(id, now))),
    );
  }

  #due(table: "jobs" | "members", now: number): string[] {
    return this.#db
      .prepare<[number], string>(
        `SELECT id FROM ${table} WHERE deadline_at <= ? ORDER BY deadline_at LIMIT 256`,
      )
      .pluck()
      .all(now);
  }

  #lapseJob(id: string, now: number): void {
    const job = this.#tables.jobs.get(id);
    if (job?.deadline_at == null || job.deadline_at > now) return;
    const lapse = jobLapse(job.state, job.expires_at !== null && job.expires_at <= now);
    if (lapse?.kind === "fault")
      this.#transitions.moveJob(id, "fault", { reason: lapse.reason, ...this.#blameOf(id) });
    if (lapse?.kind === "stop") this.#transitions.moveJob(id, "stop", { reason: lapse.reason });
    if (lapse?.kind === "end") this.#transitions.endWait(id);
    this.#transitions.reconcile(id);
  }

  /** The next attempt leaves the node alone that this one waited for. */
  #blameOf(jobId: string): { blame?: string } {
    const { jobs, members } = this.#tables;
    const attempt = jobs.liveAttempt(jobId);
    const blame = attempt === undefined ? null : laggingMember(members.ofAttempt(attempt.id));
    return blame === null ? {} : { blame };
  }

  #lapseMember(id: string, now: number): void {
    const member = this.#tables.members.get(id);
    if (member?.deadline_at == null || member.deadline_at > now) return;
    const lapse = memberLapse(member.state);
    if (lapse === "lose")
      this.#transitions.revoke(id, { reason: member.reason ?? this.#lapseReason(member) });
    if (lapse === "quarantine")
      this.#transitions.moveMember(id, "quarantine", {
        reason: member.reason ?? "release_timeout",
      });
    this.#transitions.reconcile(member.job_id);
  }

  #lapseReason(member: MemberRow): JobReason {
    if (member.state === "DRAINING") return "upload_failed";
    const { joinsRunning, isWarming } = this.#transitions.standingOf(member);
    const isLate = joinsRunning && (member.state !== "RUNNING" || isWarming);
    return isLate && member.desired === "run" ? "provisioning_timeout" : "agent_fault";
  }
}
