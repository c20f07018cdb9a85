import type { Migration } from "@resontech/frame/migrate";

/**
 * Jobs of several kinds. Names of roles and of inputs are the workload's; the kernel knows which member leads: its end decides the attempt, and the
 * job's outputs are what it leaves. A row that an older release writes (`role = 'server'`) leads by the trigger.
 */
export const workloads: Migration = {
  version: 9,
  name: "workloads",
  minReader: 7,
  sql: `
    ALTER TABLE jobs ADD COLUMN kind TEXT NOT NULL DEFAULT 'federation';
    -- What only the workload reads, JSON that this program wrote from checked values; null where columns say it.
    ALTER TABLE jobs ADD COLUMN spec TEXT;

    CREATE TABLE members_of_any_role (
      id TEXT PRIMARY KEY,
      attempt_id TEXT NOT NULL REFERENCES attempts (id) ON DELETE CASCADE,
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      role TEXT NOT NULL,
      is_lead INTEGER NOT NULL DEFAULT 0 CHECK (is_lead IN (0, 1)),
      site TEXT,
      shard_index INTEGER,
      node_id TEXT NOT NULL REFERENCES nodes (id),
      -- Null for one that holds no device.
      worker_id TEXT,
      state TEXT NOT NULL,
      version INTEGER NOT NULL,
      desired TEXT NOT NULL CHECK (desired IN ('run', 'stop')),
      stop_reason TEXT,
      generation INTEGER NOT NULL,
      counter INTEGER NOT NULL,
      last_seq INTEGER NOT NULL DEFAULT 0,
      resources TEXT NOT NULL,
      container TEXT,
      is_staged INTEGER NOT NULL DEFAULT 0,
      is_ready INTEGER NOT NULL DEFAULT 0,
      is_finished INTEGER NOT NULL DEFAULT 0,
      has_outputs INTEGER NOT NULL DEFAULT 0,
      progress_step TEXT,
      progress_done INTEGER,
      progress_total INTEGER,
      progress_at INTEGER,
      reason TEXT,
      message TEXT,
      detail TEXT,
      state_since INTEGER NOT NULL,
      deadline_at INTEGER,
      created_at INTEGER NOT NULL,
      replaces TEXT REFERENCES members (id),
      failed_site TEXT
    ) STRICT;
    INSERT INTO members_of_any_role
      SELECT id, attempt_id, job_id, role, role = 'server', site, shard_index, node_id, worker_id, state, version, desired, stop_reason, generation,
        counter, last_seq, resources, container, is_staged, is_ready, is_finished, has_outputs, progress_step, progress_done, progress_total,
        progress_at, reason, message, detail, state_since, deadline_at, created_at, replaces, failed_site
      FROM members;
    DROP TABLE members;
    ALTER TABLE members_of_any_role RENAME TO members;
    CREATE INDEX members_of_attempt ON members (attempt_id);
    CREATE INDEX members_of_job ON members (job_id);
    CREATE INDEX members_of_node ON members (node_id) WHERE state NOT IN ('RELEASED', 'QUARANTINED');
    CREATE INDEX members_due ON members (deadline_at) WHERE deadline_at IS NOT NULL;
    CREATE UNIQUE INDEX one_replacement ON members (replaces) WHERE replaces IS NOT NULL;
    CREATE TRIGGER servers_lead AFTER INSERT ON members WHEN NEW.role = 'server' AND NEW.is_lead = 0
      BEGIN UPDATE members SET is_lead = 1 WHERE id = NEW.id; END;

    CREATE TABLE inputs_of_any_kind (
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      id TEXT NOT NULL,
      kind TEXT NOT NULL,
      key TEXT NOT NULL,
      version_id TEXT NOT NULL,
      etag TEXT NOT NULL,
      size_bytes INTEGER NOT NULL,
      target TEXT NOT NULL,
      -- Which member gets it, from 0; null for what is no one member's.
      shard_index INTEGER,
      PRIMARY KEY (job_id, id)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO inputs_of_any_kind SELECT job_id, id, kind, key, version_id, etag, size_bytes, target, shard_index FROM job_inputs;
    DROP TABLE job_inputs;
    ALTER TABLE inputs_of_any_kind RENAME TO job_inputs;
  `,
};
