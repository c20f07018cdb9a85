/** Rows of a large appliance, as years leave them, and a log of a million lines in the object store. */
import { randomBytes } from "node:crypto";
import { AGENT_REASONS, KERNEL_REASONS } from "@resontech/contracts/job-reasons";
import Database from "better-sqlite3";
import { REASONS } from "@resontech/coordinator/reasons";
import type { S3Engine } from "@resontech/coordinator/testing/s3-engine";
import { seededRandom } from "@resontech/house/seeded-random";

export type Owner = { userId: string; project: string; bucketAlias: string };

const SEED = 20_261_126;
const DAY_MS = 86_400_000;
const CHUNK_BYTES = 1024 ** 2;
const SITES = 8;
/** The job whose logs are long. */
export const LONG_LOG_JOB = "job-longlog";
/** Stands once in the log of each site, in its last tenth. */
export const RARE = "needle in the log";
export const ALL_REASONS = [...AGENT_REASONS, ...KERNEL_REASONS];
export const jobOfReason = (reason: string): string => `job-reason-${reason.replaceAll("_", "-")}`;

/** One transaction beside the running coordinator, which sees it whole. */
export function seedRows(file: string, owner: Owner, sizes: { jobs: number; nodes: number }): void {
  const db = new Database(file, { timeout: 30_000 });
  try {
    db.transaction(() => {
      seedNodes(db, sizes.nodes);
      seedJobs(db, owner, sizes.jobs);
      db.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES ('job-sequence', ?)").run(
        String(sizes.jobs + 1_000),
      );
    }).immediate();
  } finally {
    db.close();
  }
}

/** Out of placement: no job may be given to them. */
function seedNodes(db: Database.Database, count: number): void {
  const now = Date.now();
  const node = db.prepare(
    `INSERT INTO nodes (id, state, version, is_cordoned, cordon_reason, certificate_sha256, agent_version, joined_at, registered_at, state_since)
     VALUES (?, 'READY', 1, 1, 'of the proof', ?, '0.1.0', ?, ?, ?)`,
  );
  const worker = db.prepare(
    `INSERT INTO workers (id, node_id, kind, model, memory_bytes, vendor, is_healthy, is_present) VALUES (?, ?, 'gpu', 'h100', 85899345920, 'nvidia', 1, 1)`,
  );
  for (let at = 0; at < count; at += 1) {
    const id = `rack${String(Math.floor(at / 32)).padStart(2, "0")}-${String(at % 32).padStart(2, "0")}`;
    node.run(id, randomBytes(32).toString("hex"), now, now, now);
    for (let gpu = 0; gpu < 8; gpu += 1) worker.run(`${id}-${gpu}`, id);
  }
}

function seedJobs(db: Database.Database, owner: Owner, count: number): void {
  const random = seededRandom(SEED);
  const insert = jobInsert(db, owner);
  const reasons = ALL_REASONS;
  for (let at = 1; at <= count - reasons.length - 1; at += 1) {
    const luck = random();
    const state =
      luck < 0.8 ? "SUCCEEDED" : luck < 0.92 ? "FAILED" : luck < 0.98 ? "CANCELLED" : "EXPIRED";
    const reason =
      state === "SUCCEEDED"
        ? null
        : state === "FAILED"
          ? reasons[Math.floor(random() * AGENT_REASONS.length)]!
          : state === "CANCELLED"
            ? "user_cancelled"
            : "expired";
    const id = `job-${at.toString(36).padStart(12, "0")}`;
    insert({ id, sequence: at, name: `study-${at % 97} run ${at}`, state, reason, random });
  }
  for (const [at, reason] of reasons.entries())
    insert({
      ...{ id: jobOfReason(reason), name: `ended by ${reason}`, reason, random },
      ...{ sequence: count - reasons.length + at, state: REASONS[reason].ends },
    });
  insert({
    ...{ id: LONG_LOG_JOB, name: "a million lines", state: "SUCCEEDED", reason: null, random },
    sequence: count,
  });
  seedMembers(db);
}

type SeededJob = {
  id: string;
  sequence: number;
  name: string;
  state: string;
  reason: string | null;
  random: () => number;
};

function jobInsert(db: Database.Database, { userId, project, bucketAlias }: Owner) {
  const statement = db.prepare(
    `INSERT INTO jobs (id, sequence, project_id, user_id, name, slug, bucket, output_root, state, version, desired, reason, message, state_since,
       selection, only_mine, image, num_rounds, min_clients, resumable, warnings, shard_count, shard_uncompressed_bytes, attempts_made,
       audit_op, audit_index, audit_leaf, created_at, started_at, ended_at)
     VALUES (@id, @sequence, @project, @userId, @name, @id, @bucket, 'jobs/' || @id, @state, 3, 'run', @reason, @message, @endedAt,
       '{"kind":"auto","gpuModels":null,"maxPriceCents":null}', 0, '{}', 5, 2, 0, '[]', 8, '[]', 1, 'op', 1, 'leaf', @createdAt, @startedAt, @endedAt)`,
  );
  const newest = Date.now() - 60_000;
  return ({ random, ...job }: SeededJob): void => {
    const createdAt = Math.floor(newest - random() * 300 * DAY_MS);
    const startedAt = createdAt + Math.floor(random() * 3_600_000);
    const message = job.reason === null ? null : `site-3: ${job.reason} at step 1234 of 5000`;
    const endedAt = Math.min(newest, startedAt + Math.floor(random() * DAY_MS));
    statement.run({
      ...{ ...job, message, userId, project, bucket: bucketAlias },
      ...{ createdAt, startedAt, endedAt },
    });
  };
}

/** Of the job with the long log: a server and a client for each site, all of them gone. */
function seedMembers(db: Database.Database): void {
  const now = Date.now();
  const attempt = `${LONG_LOG_JOB}-a1`;
  db.prepare(
    "INSERT INTO attempts (id, job_id, number, server_name, server_port, created_at, ended_at) VALUES (?, ?, 1, 's', 8002, ?, ?)",
  ).run(attempt, LONG_LOG_JOB, now, now);
  const insert = db.prepare(
    `INSERT INTO members (id, attempt_id, job_id, role, is_lead, site, shard_index, node_id, state, version, desired, generation, counter, resources,
       state_since, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'rack00-00', 'RELEASED', 1, 'stop', 1, 1, '{}', ?, ?)`,
  );
  insert.run(`${attempt}-server`, attempt, LONG_LOG_JOB, "server", 1, null, null, now, now);
  for (let site = 1; site <= SITES; site += 1)
    insert.run(
      memberOf(site),
      attempt,
      LONG_LOG_JOB,
      "client",
      0,
      `site-${site}`,
      site - 1,
      now,
      now,
    );
}

function memberOf(site: number): string {
  return `${LONG_LOG_JOB}-a1-site-${site}`;
}

/** Stored as agents store it, in chunks of 1 MiB. @returns its bytes */
export async function seedLogs(engine: S3Engine, bucket: string, lines: number): Promise<number> {
  const each = Math.ceil(lines / SITES);
  let bytes = 0;
  for (let site = 1; site <= SITES; site += 1) {
    let chunk: string[] = [];
    let chunkBytes = 0;
    let sequence = 0;
    const store = async (): Promise<void> => {
      const key = `logs/${LONG_LOG_JOB}/${memberOf(site)}-1.1/${String(sequence).padStart(8, "0")}`;
      await engine.store.put(bucket, key, chunk.join(""), "text/plain");
      sequence += 1;
      bytes += chunkBytes;
      [chunk, chunkBytes] = [[], 0];
    };
    for (let at = 0; at < each; at += 1) {
      const rare = at === Math.floor(each * 0.95) ? ` ${RARE}` : "";
      const line = `2026-11-26 12:00:00,000 INFO epoch ${Math.floor(at / 1000)} step ${String(at).padStart(7, "0")} loss ${(1 / (at + 1)).toFixed(6)}${rare}\n`;
      chunk.push(line);
      chunkBytes += line.length;
      if (chunkBytes >= CHUNK_BYTES) await store();
    }
    if (chunk.length > 0) await store();
  }
  return bytes;
}
