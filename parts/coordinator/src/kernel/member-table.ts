import type { MemberState } from "@resontech/contracts/job-states";
import type { Fence } from "@resontech/contracts/fence";
import type { WriteHandle } from "../db/open-database.ts";
import { Prepared } from "../db/prepared.ts";
import { agentProtocolOf } from "./agent-protocol-of.ts";
import type { JobRow, MemberRow, NodeRow } from "./rows.ts";

/** Columns beside the state that may change; what is left out stays. */
export type MemberChange = Partial<
  Pick<
    MemberRow,
    | "desired"
    | "stop_reason"
    | "last_seq"
    | "container"
    | "is_staged"
    | "cached_bytes"
    | "is_ready"
    | "is_finished"
    | "has_outputs"
    | "progress_step"
    | "progress_done"
    | "progress_total"
    | "progress_at"
    | "reason"
    | "message"
    | "detail"
    | "failed_site"
    | "exit_code"
    | "deadline_at"
    | "told"
    | "wish_order"
    | "wishes_sleep"
    | "standing"
    | "standing_order"
  >
>;

/** Members, their fences, and the leases on workers that they hold. */
export class MemberTable {
  readonly #db: WriteHandle;
  readonly #prepared: Prepared;
  readonly #byId;
  readonly #ofAttempt;
  readonly #node;
  readonly #nodeAlive;
  readonly #uploadBytes;
  readonly #returnsFiles;
  readonly #refusesNonFinite;
  readonly #workersOf;

  constructor(db: WriteHandle) {
    this.#db = db;
    this.#prepared = new Prepared(db);
    this.#byId = db.prepare<[string], MemberRow>("SELECT * FROM members WHERE id = ?");
    this.#ofAttempt = db.prepare<[string], MemberRow>(
      "SELECT * FROM members WHERE attempt_id = ? ORDER BY is_lead DESC, shard_index, created_at, length(id), id",
    );
    this.#node = db.prepare<[string], NodeRow>("SELECT * FROM nodes WHERE id = ?");
    this.#nodeAlive = db
      .prepare<[string], number>("SELECT state IN ('READY', 'SUSPECT') FROM nodes WHERE id = ?")
      .pluck();
    this.#returnsFiles = db
      .prepare<[string], number>("SELECT returns_site_files FROM projects WHERE id = ?")
      .pluck();
    this.#refusesNonFinite = db
      .prepare<[string], number>("SELECT refuses_non_finite FROM projects WHERE id = ?")
      .pluck();
    this.#workersOf = db
      .prepare<[string], string>("SELECT worker_id FROM leases WHERE member_id = ? ORDER BY id")
      .pluck();
    this.#uploadBytes = db
      .prepare<[string], number>(
        "SELECT coalesce(sum(size_bytes), 0) FROM uploads WHERE member_id = ?",
      )
      .pluck();
  }

  get(id: string): MemberRow | undefined {
    return this.#byId.get(id);
  }

  /** The lead first, then the others in their order, of one place the lost ones before the one that took it. */
  ofAttempt(attemptId: string): MemberRow[] {
    return this.#ofAttempt.all(attemptId);
  }

  isNodeAlive(nodeId: string): boolean {
    return this.#nodeAlive.get(nodeId) === 1;
  }

  /** Its agent's version of the protocol is this or a later one. */
  nodeSpeaks(nodeId: string, version: number): boolean {
    const node = this.#node.get(nodeId);
    return node !== undefined && agentProtocolOf(node) >= version;
  }

  /** The project lets files of its sites out. */
  returnsFiles(job: Pick<JobRow, "project_id">): boolean {
    return this.#returnsFiles.get(job.project_id) === 1;
  }

  /** The project wants no model with a weight that is no number. */
  refusesNonFinite(job: Pick<JobRow, "project_id">): boolean {
    return this.#refusesNonFinite.get(job.project_id) === 1;
  }

  /** All that it was given, whether it has let go of them or not: the first is the one of its row. */
  workersOf(memberId: string): string[] {
    return this.#workersOf.all(memberId);
  }

  bytesToUpload(memberId: string): number {
    return this.#uploadBytes.get(memberId) ?? 0;
  }

  /** Compare-and-set on id, version and state. */
  move(member: MemberRow, to: MemberState, at: number, change: MemberChange): boolean {
    const changes = this.#prepared.run(
      `UPDATE members SET state = @to, version = version + 1, state_since = @at${assignments(change)}
         WHERE id = @id AND version = @version AND state = @from`,
      { ...change, id: member.id, version: member.version, from: member.state, to, at },
    );
    return changes === 1;
  }

  /** Facts that change no state. */
  note(id: string, change: MemberChange): void {
    this.#prepared.run(
      `UPDATE members SET version = version + 1${assignments(change)} WHERE id = @id`,
      { ...change, id },
    );
  }

  /** Withdraws the fence that the member has and records a newer one, under which nothing has been reported yet. */
  replaceFence(member: MemberRow, next: Fence, at: number): void {
    this.#prepared.run(
      "UPDATE fences SET revoked_at = ? WHERE member_id = ? AND revoked_at IS NULL",
      at,
      member.id,
    );
    this.#prepared.run(
      "UPDATE members SET generation = ?, counter = ?, last_seq = 0, version = version + 1 WHERE id = ?",
      next.generation,
      next.counter,
      member.id,
    );
    this.recordFence(member.id, next, member.node_id, at);
  }

  recordFence(memberId: string, fence: Fence, nodeId: string, at: number): void {
    this.#prepared.run(
      "INSERT INTO fences (member_id, generation, counter, node_id, issued_at) VALUES (?, ?, ?, ?, ?)",
      memberId,
      fence.generation,
      fence.counter,
      nodeId,
      at,
    );
  }

  beginUse(memberId: string, at: number): void {
    this.#prepared.run(
      "UPDATE leases SET used_from = ? WHERE member_id = ? AND used_from IS NULL AND released_at IS NULL",
      at,
      memberId,
    );
  }

  endUse(memberId: string, at: number): void {
    this.#prepared.run(
      "UPDATE leases SET used_until = ? WHERE member_id = ? AND used_from IS NOT NULL AND used_until IS NULL",
      at,
      memberId,
    );
  }

  releaseWorkers(memberId: string, at: number): void {
    this.#prepared.run(
      "UPDATE leases SET released_at = ? WHERE member_id = ? AND released_at IS NULL",
      at,
      memberId,
    );
  }

  quarantineWorker(workerId: string, reason: string): void {
    this.#prepared.run(
      "UPDATE workers SET is_quarantined = 1, quarantine_reason = ? WHERE id = ?",
      reason,
      workerId,
    );
  }

  /** Unfinished uploads of the member, now marked aborted; the object store has yet to be told. */
  abortUploads(memberId: string, at: number): string[] {
    return this.#db
      .prepare<[number, string], string>(
        `UPDATE uploads SET state = 'ABORTED', closed_at = ?
         WHERE member_id = ? AND state IN ('OPEN', 'COMPLETING') RETURNING id`,
      )
      .pluck()
      .all(at, memberId);
  }
}

function assignments(change: MemberChange): string {
  return Object.keys(change)
    .map((column) => `, ${column} = @${column}`)
    .join("");
}
