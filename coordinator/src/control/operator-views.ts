/** What the operator is shown of keys, users, jobs and nodes: states alone, nothing that a user wrote into a job. */
import type { Inventory, InventoryWorker } from "@resontech/contracts/agent-protocol";
import type {
  JobFacts,
  JobMemberFacts,
  KeyFacts,
  NodeFacts,
  NodeMemberFacts,
  NodeWorkerFacts,
  ProjectFacts,
  UserFacts,
} from "@resontech/contracts/operator-control";
import { TERMINAL_JOB_STATES } from "@resontech/contracts/job-states";
import type { NodeHealth } from "@resontech/contracts/coordinator-health";
import { ApiError } from "../api-error.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { idThatBegins } from "./decisions/id-that-begins.ts";

type KeyRow = {
  id: string;
  username: string;
  name: string;
  prefix: string;
  last4: string;
  expires_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
};
type UserRow = {
  id: string;
  username: string;
  holds_admin: number;
  disabled_at: number | null;
  created_at: number;
  bucket: string | null;
  quota_bytes: number | null;
  living_keys: number;
  living_jobs: number;
};
type ProjectRow = Omit<ProjectFacts, "leads" | "createdAt"> & { leads: string; created_at: number };
type JobRow = {
  id: string;
  kind: string;
  username: string;
  state: string;
  state_since: number;
  created_at: number;
  attempts_made: number;
  waiting_for: string | null;
  reason: string | null;
  round: number | null;
  rounds: number | null;
};

const OVER = TERMINAL_JOB_STATES.map((state) => `'${state}'`).join(", ");
const KEYS = `SELECT k.id, u.username, k.name, k.prefix, k.last4, k.expires_at, k.last_used_at, k.revoked_at
  FROM platform_keys k JOIN users u ON u.id = k.user_id`;
const USERS = `SELECT u.id, u.username, u.disabled_at, u.created_at, b.name AS bucket, b.quota_bytes,
    (SELECT count(*) FROM platform_keys k WHERE k.user_id = u.id AND k.revoked_at IS NULL AND k.expires_at > @now) AS living_keys,
    (SELECT count(*) FROM jobs j WHERE j.user_id = u.id AND j.state NOT IN (${OVER})) AS living_jobs,
    EXISTS (SELECT 1 FROM role_holders h WHERE h.user_id = u.id AND h.role = 'platform-admin') AS holds_admin
  FROM users u LEFT JOIN projects p ON p.owner_id = u.id AND p.is_default = 1 LEFT JOIN buckets b ON b.project_id = p.id
  WHERE u.kind = 'person'`;
const PROJECTS = `SELECT p.id AS project, p.name, t.name AS team, p.created_at, b.name AS bucket, b.quota_bytes AS quotaBytes,
    (SELECT count(*) FROM project_members m WHERE m.project_id = p.id) AS members,
    (SELECT json_group_array(u.username) FROM project_members m JOIN users u ON u.id = m.user_id
      WHERE m.project_id = p.id AND m.role = 'project-lead') AS leads
  FROM projects p JOIN buckets b ON b.project_id = p.id LEFT JOIN teams t ON t.id = p.team_id
  ORDER BY t.name IS NULL, t.name, p.name, p.created_at, p.id`;
const JOBS = `SELECT j.id, j.kind, u.username, j.state, j.state_since, j.created_at, j.attempts_made, j.waiting_for, j.reason,
    (SELECT max(round) FROM rounds r WHERE r.job_id = j.id) AS round,
    coalesce((SELECT max(num_rounds) FROM rounds r WHERE r.job_id = j.id), j.num_rounds) AS rounds
  FROM jobs j JOIN users u ON u.id = j.user_id`;
/** Members that still hold a worker, or have yet to prove that nothing is left of them. */
const HOLDING = "m.state NOT IN ('RELEASED', 'QUARANTINED')";

type NodeDetail = { node: NodeFacts; members: NodeMemberFacts[]; workers: NodeWorkerFacts[] };

export class OperatorViews {
  readonly #db: ReadHandle;
  readonly #nodeHealth: () => readonly NodeHealth[];
  readonly #now: () => number;

  constructor(db: ReadHandle, nodeHealth: () => readonly NodeHealth[], now: () => number) {
    this.#db = db;
    this.#nodeHealth = nodeHealth;
    this.#now = now;
  }

  /** @throws ApiError not_found for a user that is not there */
  keys(username: string | null): KeyFacts[] {
    if (username !== null) this.user(username);
    const where = username === null ? "" : "WHERE u.username = @username";
    const rows = this.#db
      .prepare<{ username?: string }, KeyRow>(
        `${KEYS} ${where} ORDER BY u.username, k.created_at, k.id`,
      )
      .all(username === null ? {} : { username });
    return rows.map((row) => this.#key(row));
  }

  /** @param idOrStart a key's id, or how it begins @throws ApiError not_found, id_ambiguous */
  keyId(idOrStart: string): string {
    return idThatBegins(this.#idsThatBegin("platform_keys", idOrStart), idOrStart, {
      what: "key",
      list: "appliance key ls",
    });
  }

  /** @param idOrStart a job's id, or how it begins @throws ApiError not_found, id_ambiguous */
  jobId(idOrStart: string): string {
    return idThatBegins(this.#idsThatBegin("jobs", idOrStart), idOrStart, {
      what: "job",
      list: "appliance job ls --all",
    });
  }

  users(): UserFacts[] {
    const rows = this.#db
      .prepare<{ now: number }, UserRow>(`${USERS} ORDER BY u.username`)
      .all({ now: this.#now() });
    return rows.map(userFacts);
  }

  /** @throws ApiError not_found */
  user(username: string): UserFacts {
    const row = this.#db
      .prepare<{ now: number; username: string }, UserRow>(`${USERS} AND u.username = @username`)
      .get({ now: this.#now(), username });
    if (row === undefined) throw new ApiError("not_found", `there is no user ${username}`);
    return userFacts(row);
  }

  /** By team and name, users' own first projects last. */
  projects(): ProjectFacts[] {
    return this.#db
      .prepare<[], ProjectRow>(PROJECTS)
      .all()
      .map(({ leads, created_at, ...project }) => ({
        ...project,
        leads: (JSON.parse(leads) as string[]).toSorted(),
        createdAt: instant(created_at),
      }));
  }

  /** Newest first. */
  jobs(living: boolean, limit: number): JobFacts[] {
    const where = living ? `WHERE j.state NOT IN (${OVER})` : "";
    return this.#db
      .prepare<[number], JobRow>(`${JOBS} ${where} ORDER BY j.sequence DESC LIMIT ?`)
      .all(limit)
      .map(jobFacts);
  }

  /** @throws ApiError not_found, id_ambiguous */
  job(idOrStart: string): { job: JobFacts; members: JobMemberFacts[] } {
    const id = this.jobId(idOrStart);
    const row = this.#db.prepare<[string], JobRow>(`${JOBS} WHERE j.id = ?`).get(id);
    if (row === undefined) throw new ApiError("not_found", `there is no job ${id}`);
    const members = this.#db
      .prepare<[string], JobMemberFacts>(
        `SELECT m.role, m.site, m.node_id AS node, m.worker_id AS worker, m.state FROM members m JOIN attempts a ON a.id = m.attempt_id
         WHERE a.job_id = ? AND a.number = (SELECT max(number) FROM attempts WHERE job_id = a.job_id)
         ORDER BY m.is_lead DESC, m.site, m.id`,
      )
      .all(id);
    return { job: jobFacts(row), members };
  }

  nodes(): NodeFacts[] {
    const count = this.#db.prepare<[string], { workers: number; busy: number }>(
      `SELECT count(*) AS workers, count((SELECT 1 FROM leases l WHERE l.worker_id = w.id AND l.released_at IS NULL)) AS busy
       FROM workers w WHERE w.node_id = ? AND w.is_present = 1`,
    );
    return this.#nodeHealth().map(({ node, state, cordonReason, silentMs, diskFreeBytes }) => ({
      ...{ node, state, ...count.get(node)!, drained: cordonReason },
      silentS: silentMs === null ? null : Math.round(silentMs / 1_000),
      freeBytes: diskFreeBytes,
    }));
  }

  /** @throws ApiError not_found */
  node(id: string): NodeDetail {
    const found = this.findNode(id);
    if (found === null) throw new ApiError("not_found", `there is no node ${id}`);
    return found;
  }

  findNode(id: string): NodeDetail | null {
    const node = this.nodes().find((each) => each.node === id);
    if (node === undefined) return null;
    const members = this.#db
      .prepare<[string], NodeMemberFacts>(
        `SELECT m.job_id AS job, m.role, m.site, m.worker_id AS worker, m.state FROM members m
         WHERE m.node_id = ? AND ${HOLDING} ORDER BY m.job_id, m.is_lead DESC, m.site`,
      )
      .all(id);
    return { node, members, workers: this.#workers(id) };
  }

  /** What the node's agent told when it last registered, with what the coordinator holds against a worker. */
  #workers(id: string): NodeWorkerFacts[] {
    const inventory = this.#db
      .prepare<[string], string | null>("SELECT inventory FROM nodes WHERE id = ?")
      .pluck()
      .get(id);
    const told = inventory === null || inventory === undefined ? [] : workersOf(inventory);
    const quarantined = new Map(
      this.#db
        .prepare<[string], { id: string; reason: string }>(
          `SELECT id, coalesce(quarantine_reason, 'unknown') AS reason FROM workers
           WHERE node_id = ? AND is_quarantined = 1`,
        )
        .all(id)
        .map((row) => [row.id, row.reason]),
    );
    const health = this.#nodeHealth().find(({ node }) => node === id);
    const uses = new Map(health?.devices?.map(({ worker, ...use }) => [worker, use]));
    return told.map((worker) => ({
      ...{ worker: worker.id, model: worker.model, memoryBytes: worker.memoryBytes },
      unfit:
        quarantined.get(worker.id) ?? (worker.healthy ? null : (worker.reason ?? "not healthy")),
      architecture: worker.architecture ?? null,
      driver: worker.driver ?? null,
      pciAddress: worker.pciAddress ?? null,
      numaNode: worker.numaNode ?? null,
      grade: worker.grade ?? null,
      shortOf: worker.shortOf ?? [],
      use: uses.get(worker.id) ?? null,
    }));
  }

  /** No id has a character above `~`. */
  #idsThatBegin(table: "platform_keys" | "jobs", start: string): string[] {
    return this.#db
      .prepare<[string, string], string>(
        `SELECT id FROM ${table} WHERE id >= ? AND id < ? ORDER BY id`,
      )
      .pluck()
      .all(start, `${start}~`);
  }

  #key(row: KeyRow): KeyFacts {
    const isOver = row.expires_at <= this.#now();
    return {
      ...{
        key: row.id,
        username: row.username,
        name: row.name,
        handle: `${row.prefix}…${row.last4}`,
      },
      state: row.revoked_at !== null ? "revoked" : isOver ? "expired" : "living",
      expiresAt: instant(row.expires_at),
      lastUsedAt: row.last_used_at === null ? null : instant(row.last_used_at),
    };
  }
}

/** As it was stored when it was received, by the schema of that time. */
function workersOf(inventory: string): InventoryWorker[] {
  return (JSON.parse(inventory) as Inventory).workers;
}

function userFacts(row: UserRow): UserFacts {
  return {
    ...{
      userId: row.id,
      username: row.username,
      isAdmin: row.holds_admin === 1,
      isDisabled: row.disabled_at !== null,
    },
    ...{
      bucket: row.bucket,
      quotaBytes: row.quota_bytes,
      livingKeys: row.living_keys,
      livingJobs: row.living_jobs,
    },
    createdAt: instant(row.created_at),
  };
}

function jobFacts(row: JobRow): JobFacts {
  return {
    ...{
      job: row.id,
      kind: row.kind,
      username: row.username,
      state: row.state,
      since: instant(row.state_since),
      createdAt: instant(row.created_at),
    },
    ...{
      attempt: row.attempts_made,
      round: row.round,
      rounds: row.rounds,
      waitingFor: row.waiting_for,
      reason: row.reason,
    },
  };
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
