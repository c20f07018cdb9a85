import type { MemberReport, ReportReply } from "@resontech/contracts/agent-protocol";
import { compareFences, formatFence } from "@resontech/contracts/fence";
import { isAgentReason } from "@resontech/contracts/job-reasons";
import { metricLine } from "@resontech/contracts/metric-line";
import type { WriteHandle } from "../db/open-database.ts";
import { AgentRefusal } from "./agent-refusal.ts";
import { isProgressNews } from "./decisions/progress-news.ts";
import { mayMemberWrite } from "./decisions/member-machine.ts";
import type { MemberChange } from "./member-table.ts";
import type { MemberRow } from "./rows.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { Transitions } from "./transitions.ts";
import type { PayloadStart } from "./workload.ts";

/** Lines that a job printed as metrics, as they came: the newest. All of them stand in its `metrics.jsonl`, and in its curves. */
const KEPT_LINES = 1_000;
const PRUNE_EVERY = 250;

/**
 * What agents tell of their members. Idempotent by (member, fence, seq): a report is taken once and in order, a repeat is accepted
 * and changes nothing, one under a withdrawn fence is stale for ever.
 */
export class Reports {
  readonly #db: WriteHandle;
  readonly #tables: KernelTables;
  readonly #transitions: Transitions;
  readonly #insertMetric;
  readonly #pruneMetrics;

  constructor(db: WriteHandle, tables: KernelTables, transitions: Transitions) {
    this.#db = db;
    this.#tables = tables;
    this.#transitions = transitions;
    this.#insertMetric = db.prepare<[string, string, string, string, number]>(
      "INSERT INTO metrics (job_id, attempt_id, site, value, at) VALUES (?, ?, ?, ?, ?)",
    );
    this.#pruneMetrics = db.prepare<[string, string, number]>(
      `DELETE FROM metrics WHERE job_id = ?
       AND seq <= (SELECT seq FROM metrics WHERE job_id = ? ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
    );
  }

  /**
   * Inside a transaction.
   * @param isHeld whether whoever reports holds the member: what is told of others' is stale
   * @throws AgentRefusal `out_of_order` when an earlier report is missing: nothing is taken, the agent sends again from there
   */
  take(reports: readonly MemberReport[], isHeld: (member: MemberRow) => boolean): ReportReply {
    return { results: reports.map((report) => this.#takeOne(report, isHeld)) };
  }

  #takeOne(report: MemberReport, isHeld: (member: MemberRow) => boolean): "accepted" | "stale" {
    const { members } = this.#tables;
    const member = members.get(report.member);
    if (member === undefined || !isHeld(member) || compareFences(report.fence, member) !== 0)
      return "stale";
    if (report.seq <= member.last_seq) return "accepted";
    if (report.seq !== member.last_seq + 1)
      throw new AgentRefusal(
        "out_of_order",
        `report ${report.seq} of ${member.id} follows ${member.last_seq}`,
      );
    members.note(member.id, { last_seq: report.seq });
    // A report says that the node knows of the member, whatever became of its answer to `desired`.
    if (member.state === "LEASED") this.#transitions.moveMember(member.id, "claim");
    this.#apply(member, report);
    this.#transitions.reconcile(member.job_id);
    return "accepted";
  }

  #apply(member: MemberRow, { event, at }: MemberReport): void {
    const { members } = this.#tables;
    const { id } = member;
    const note = (change: MemberChange) => members.note(id, change);
    const move = (...args: Parameters<Transitions["moveMember"]>) =>
      this.#transitions.moveMember(...args);
    const progress = () => this.#transitions.progress(members.get(id)!);
    switch (event.kind) {
      case "progress":
        note({
          progress_step: event.step,
          progress_done: event.done,
          progress_total: event.total ?? null,
        });
        this.#tellProgress(member, {
          step: event.step,
          done: event.done,
          total: event.total ?? null,
        });
        return progress();
      case "staged":
        note({ is_staged: 1, cached_bytes: event.cachedBytes ?? null });
        return progress();
      case "started":
        note({ container: event.container });
        move(id, "run");
        return progress();
      case "ready":
        note({ is_ready: 1 });
        if (member.is_lead === 1) this.#transitions.startWhenReady(member.job_id);
        return progress();
      case "standing":
        return note({ standing: event.standing, standing_order: event.order });
      case "job-started":
        return this.#jobStarted(member, event);
      case "round-started":
        return this.#roundStarted(member, event.round, event.numRounds, at);
      case "round-ended":
        return this.#roundEnded(
          ...([member, event.round, event.sites] as const),
          { sha256: event.modelSha256 ?? null, isFinite: event.isFinite ?? null },
          at,
        );
      case "checkpoint":
        return this.#checkpoint(member, event);
      case "metric":
        return this.#metric(member, event.site, event.value, at);
      case "warning":
        if (member.is_lead === 1 || event.site === member.site)
          this.#tables.warnings.note(member.job_id, event);
        return;
      case "finished":
        note({ is_finished: 1, exit_code: event.exitCode ?? null });
        move(id, "drain");
        return;
      case "outputs-uploaded":
        note({ has_outputs: 1 });
        move(id, "upload");
        return;
      case "failed":
        return this.#failed(member, event);
      case "released": {
        const isClean = event.processesGone && event.diskGone && event.devicesAtBaseline;
        move(id, isClean ? "release" : "quarantine");
        return;
      }
    }
  }

  #tellProgress(
    { id, job_id: job, progress_step, progress_done, progress_total }: MemberRow,
    told: { step: string; done: number; total: number | null },
  ): void {
    if (isProgressNews({ step: progress_step, done: progress_done, total: progress_total }, told))
      this.#tables.changes.note({ kind: "progress", job, member: id, ...told });
  }

  #jobStarted(member: MemberRow, started: PayloadStart): void {
    if (member.is_lead === 0) return;
    const { jobs, workloads } = this.#tables;
    const job = jobs.get(member.job_id)!;
    if (workloads.has(job.kind)) workloads.of(job).keepStart(this.#db, member.attempt_id, started);
    this.#transitions.moveJob(member.job_id, "start");
  }

  #failed(
    member: MemberRow,
    event: {
      reason: string;
      message: string;
      detail?: string | undefined;
      site?: string | undefined;
      exitCode?: number | undefined;
    },
  ): void {
    const reason = isAgentReason(event.reason) ? event.reason : "agent_fault";
    const failure: MemberChange = { reason, message: event.message, detail: event.detail ?? null };
    const { jobs, members, warnings } = this.#tables;
    const attempt = members.ofAttempt(member.attempt_id);
    const isSite = member.is_lead === 1 && attempt.some(({ site }) => site === event.site);
    if (isSite) failure.failed_site = event.site!;
    // While the quorum carries the job nothing else would name the site.
    if (
      member.site !== null &&
      member.desired === "run" &&
      jobs.get(member.job_id)?.state === "RUNNING"
    )
      warnings.note(member.job_id, {
        site: member.site,
        topic: "site-left",
        text: `it left the job: ${nameless(event.message, member.site)}`,
      });
    // The first failure stands: what follows it is mostly its consequence.
    if (member.reason === null) members.note(member.id, failure);
    if (event.exitCode !== undefined) members.note(member.id, { exit_code: event.exitCode });
    this.#transitions.moveMember(member.id, "drain");
  }

  #roundStarted(member: MemberRow, round: number, numRounds: number | null, at: string): void {
    if (member.is_lead === 0) return;
    const { attempt_id: attempt, job_id: job } = member;
    const { changes } = this.#db
      .prepare(
        `INSERT INTO rounds (attempt_id, job_id, round, num_rounds, started_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (attempt_id, round) DO NOTHING`,
      )
      .run(attempt, job, round, numRounds, this.#instant(at));
    if (changes === 1)
      this.#tables.changes.note({
        kind: "round",
        job,
        attempt,
        round,
        total: numRounds,
        phase: "started",
      });
  }

  #roundEnded(
    member: MemberRow,
    round: number,
    sites: readonly string[],
    model: { sha256: string | null; isFinite: boolean | null },
    at: string,
  ): void {
    if (member.is_lead === 0) return;
    this.#db
      .prepare(
        `INSERT INTO rounds (attempt_id, job_id, round, ended_at, sites, model_sha256, is_finite) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (attempt_id, round) DO UPDATE
         SET ended_at = excluded.ended_at, sites = excluded.sites, model_sha256 = excluded.model_sha256, is_finite = excluded.is_finite`,
      )
      .run(
        member.attempt_id,
        member.job_id,
        round,
        this.#instant(at),
        JSON.stringify(sites),
        model.sha256,
        model.isFinite === null ? null : Number(model.isFinite),
      );
    const { attempt_id: attempt, job_id: job } = member;
    this.#tables.changes.note({
      ...{ kind: "round", job, attempt, round, total: null, phase: "ended" },
      isFinite: model.isFinite,
    });
  }

  /** The pointer is committed under the fence that the report came with; uploads of another fence are nobody's checkpoint. */
  #checkpoint(member: MemberRow, event: { round: number; model: string; manifest: string }): void {
    const { changes, outputs, checkpoints, commands, jobs, clock } = this.#tables;
    const job = jobs.get(member.job_id);
    if (job === undefined || member.is_lead === 0 || !mayMemberWrite(member.state)) return;
    const folder = `ckpt/${member.job_id}/${member.attempt_id}/${member.id}-${formatFence(member)}/${event.round}/`;
    const isStored = (id: string): boolean => {
      const upload = outputs.get(id);
      return (
        upload?.state === "COMPLETED" &&
        upload.member_id === member.id &&
        upload.key.startsWith(folder)
      );
    };
    if (!isStored(event.model) || !isStored(event.manifest)) return;
    const old = checkpoints.commit(job.id, member.attempt_id, event.round, event, clock.now());
    for (const upload of old) commands.removeVersion(upload);
    changes.note({
      kind: "checkpoint",
      job: job.id,
      attempt: member.attempt_id,
      round: event.round,
    });
  }

  #metric(member: MemberRow, site: string, value: string, at: string): void {
    const { attempt_id: attempt, job_id: job } = member;
    const { curves, changes } = this.#tables;
    const instant = this.#instant(at);
    const number = Number(
      this.#insertMetric.run(job, attempt, site, value, instant).lastInsertRowid,
    );
    const { began, lines } = curves.noteLine(job, "printed", number, instant);
    const { axis, place, values } = metricLine(value);
    for (const [name, one] of values)
      curves.add(job, "printed", {
        ...{ site, name, axis, value: one },
        place: place ?? (instant - began) / 1000,
      });
    if (lines % PRUNE_EVERY === 0) this.#pruneMetrics.run(job, job, KEPT_LINES);
    changes.note({ kind: "metric", job, attempt, site, value, number });
  }

  /** The agent's clock where it can be read, else ours. */
  #instant(at: string): number {
    const parsed = Date.parse(at);
    return Number.isNaN(parsed) ? this.#tables.clock.now() : parsed;
  }
}

/** A runner's message names its site, and so does a warning. */
function nameless(message: string, site: string): string {
  return (message.startsWith(`${site}: `) ? message.slice(site.length + 2) : message).slice(
    0,
    1000,
  );
}
