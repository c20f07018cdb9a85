import { isTerminal } from "@resontech/contracts/job-states";
import { MODEL_CHECKPOINT } from "@resontech/contracts/model-output";
import type { Heartbeats } from "./heartbeats.ts";
import type { WriteHandle } from "../db/open-database.ts";
import { WORKERS_OF_MEMBER } from "../db/workers-of-member.ts";
import { Prepared } from "../db/prepared.ts";
import { type RowFilter, whereOf } from "../db/row-filter.ts";
import { shownKind, storedKindsOf } from "./decisions/stored-kind.ts";
import { hintOf, type OwnReasonWords, reasonWords } from "./decisions/reasons.ts";
import type { CheckpointTable } from "./checkpoint-table.ts";
import type { JobMadeWay, JobMemberView, JobModel, JobRounds, JobView } from "./job-view.ts";
import type { PreemptionTable } from "./preemption-table.ts";
import type { WarningTable } from "./warning-table.ts";
import { jobClassOf, reasonWordsOf, type Workloads } from "./workload.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { AttemptRow, JobRow, MemberRow } from "./rows.ts";

type MemberWithModel = MemberRow & { model: string | null; worker_ids: string };

/** Jobs as routes show them. */
export class JobViews {
  readonly #heartbeats: Heartbeats;
  readonly #warnings: WarningTable;
  readonly #workloads: Workloads;
  readonly #checkpoints: Pick<CheckpointTable, "ofJob">;
  readonly #preemptions: Pick<PreemptionTable, "lastOf">;
  readonly #job;
  readonly #prepared: Prepared;
  readonly #attempts;
  readonly #members;
  readonly #rounds;
  readonly #model;
  readonly #username;

  constructor(
    db: WriteHandle,
    heartbeats: Heartbeats,
    {
      checkpoints,
      preemptions,
      warnings,
      workloads,
    }: Pick<KernelTables, "checkpoints" | "preemptions" | "warnings" | "workloads">,
  ) {
    this.#heartbeats = heartbeats;
    this.#warnings = warnings;
    this.#workloads = workloads;
    this.#checkpoints = checkpoints;
    this.#preemptions = preemptions;
    this.#job = db.prepare<[string], JobRow>("SELECT * FROM jobs WHERE id = ?");
    this.#prepared = new Prepared(db);
    this.#attempts = db.prepare<[string], AttemptRow>(
      "SELECT * FROM attempts WHERE job_id = ? ORDER BY number",
    );
    this.#members = db.prepare<[string], MemberWithModel>(
      `SELECT members.*, workers.model, ${WORKERS_OF_MEMBER} AS worker_ids FROM members LEFT JOIN workers ON workers.id = members.worker_id
       WHERE attempt_id = ? AND NOT EXISTS (SELECT 1 FROM members AS later WHERE later.replaces = members.id)
       ORDER BY is_lead DESC, shard_index`,
    );
    this.#rounds = db.prepare<[string], JobRounds>(
      `SELECT max(round) AS current, max(num_rounds) AS total, count(DISTINCT CASE WHEN ended_at IS NOT NULL THEN round END) AS done
       FROM rounds WHERE job_id = ?`,
    );
    this.#username = db
      .prepare<[string], string>("SELECT username FROM users WHERE id = ?")
      .pluck();
    this.#model = db.prepare<
      { job: string; key: string },
      { key: string; kept: number | null; round: number | null; is_finite: number | null }
    >(
      `SELECT job_outputs.key, last_models.round AS kept, rounds.round, is_finite
       FROM job_outputs JOIN uploads ON uploads.id = upload_id JOIN members ON members.id = uploads.member_id
         LEFT JOIN last_models ON output_upload = upload_id
         LEFT JOIN rounds ON rounds.attempt_id = members.attempt_id AND rounds.ended_at IS NOT NULL AND rounds.round = coalesce(last_models.round, rounds.round)
       WHERE job_outputs.job_id = @job AND job_outputs.key = @key ORDER BY rounds.round DESC LIMIT 1`,
    );
  }

  job(id: string): JobView | null {
    const row = this.#job.get(id);
    return row === undefined ? null : this.#view(row);
  }

  page(
    filter: RowFilter,
    limit: number,
    offset: number,
    kindsLeftOut: readonly string[],
  ): JobView[] {
    const { sql, values } = whereOf(filter, { projectId: "project_id", userId: "user_id" });
    const stored = kindsLeftOut.flatMap(storedKindsOf);
    const kinds = stored.map(() => "?").join(", ");
    const page = `SELECT * FROM jobs WHERE (${sql}) AND kind NOT IN (${kinds}) ORDER BY sequence DESC LIMIT ? OFFSET ?`;
    return this.#prepared
      .all<JobRow>(page, ...values, ...stored, limit, offset)
      .map((row) => this.#view(row));
  }

  #view(row: JobRow): JobView {
    const attempts = this.#attempts.all(row.id);
    const living = attempts.filter(({ ended_at }) => ended_at === null);
    const shown = living.length > 0 ? living : attempts.slice(-1);
    const stoppedBy = this.#stopperOf(row);
    return {
      id: row.id,
      kind: shownKind(row.kind),
      name: row.name,
      slug: row.slug,
      projectId: row.project_id,
      userId: row.user_id,
      bucket: row.bucket,
      outputRoot: row.output_root,
      state: row.state,
      desired: row.desired,
      jobClass: jobClassOf(this.#workloads, row),
      isPreemptible: row.is_preemptible !== 0,
      stateSince: row.state_since,
      deadlineAt: row.deadline_at,
      reason: row.reason,
      waitingFor: row.waiting_for,
      stoppedBy,
      error: errorOf(row, reasonWordsOf(this.#workloads, row), stoppedBy),
      resumable: row.resumable === 1,
      warnings: [...(JSON.parse(row.warnings) as string[]), ...this.#warnings.of(row.id)],
      attempt: row.attempts_made,
      rounds: this.#roundsOf(row),
      madeWay: this.#madeWayOf(row, attempts.at(-1)?.id),
      model: isTerminal(row.state) ? this.#modelOf(row) : null,
      members: shown.flatMap(({ id }) =>
        this.#members.all(id).map((member) => this.#memberView(member)),
      ),
      createdAt: row.created_at,
      startedAt: row.started_at,
      endedAt: row.ended_at,
    };
  }

  #stopperOf({ stopped_by }: JobRow): string | null {
    return stopped_by === null ? null : (this.#username.get(stopped_by) ?? null);
  }

  /** Rounds are numbered as the workflow numbers them, over all attempts: a resumed one goes on where the last one stopped. */
  #roundsOf(job: Pick<JobRow, "id" | "num_rounds">): JobRounds {
    const { current, total, done } = this.#rounds.get(job.id)!;
    return { current, total: total ?? job.num_rounds, done };
  }

  /** @param lastAttempt with another one since then it has workers again */
  #madeWayOf(job: JobRow, lastAttempt: string | undefined): JobMadeWay | null {
    if (job.state !== "PREEMPTING" && job.state !== "QUEUED" && job.state !== "HELD") return null;
    const last = this.#preemptions.lastOf(job.id);
    if (last === undefined || last.attempt !== lastAttempt) return null;
    const [newest] = job.resumable === 1 ? this.#checkpoints.ofJob(job.id) : [];
    const { at, projectId, userId } = last;
    const by = projectId === null || userId === null ? null : { projectId, userId };
    return { at, by, afterRound: newest?.round ?? null };
  }

  #modelOf({ id, output_root }: JobRow): JobModel | null {
    const found = this.#model.get({ job: id, key: `${output_root}/${MODEL_CHECKPOINT}` });
    if (found === undefined) return null;
    const { key, kept, round, is_finite } = found;
    return {
      ...{ key, round: kept ?? round, isFinal: kept === null },
      isFinite: is_finite === null ? null : is_finite === 1,
    };
  }

  #memberView(member: MemberWithModel): JobMemberView {
    return {
      id: member.id,
      role: member.role,
      site: member.site,
      node: member.node_id,
      workerId: member.worker_id,
      workerIds: JSON.parse(member.worker_ids) as string[],
      model: member.model,
      state: member.state,
      isReady: member.is_ready === 1,
      fence: `${member.generation}.${member.counter}`,
      progress:
        member.progress_step === null
          ? null
          : {
              step: member.progress_step,
              done: member.progress_done ?? 0,
              total: member.progress_total,
              at: member.progress_at ?? member.state_since,
            },
      ...{ exitCode: member.exit_code, reason: member.reason, message: member.message },
      cachedBytes: member.cached_bytes,
      heartbeat: this.#heartbeats.last(member.node_id),
    };
  }
}

/** @param stopper name of the person who cancelled it */
function errorOf(row: JobRow, own: OwnReasonWords, stopper: string | null): JobView["error"] {
  if (!isTerminal(row.state) || row.state === "SUCCEEDED" || row.reason === null) return null;
  const isCancelled = row.reason === "user_cancelled" && stopper !== null;
  return {
    code: row.reason,
    message: isCancelled
      ? `${stopper} cancelled the job.`
      : (row.message ?? reasonWords(row.reason, own).message),
    hint: hintOf(row.reason, row.blamed_member, own),
    detail: row.detail,
    member: row.blamed_member,
  };
}
