import type { Migration } from "@resontech/frame/migrate";

/**
 * Jobs, what they hold, and what was decided about them. Times are Unix milliseconds; JSON columns were written by this
 * program from checked values. What must never happen is refused by an index: two live attempts of a job
 * (`one_live_attempt`), two members on a worker (`one_lease_a_worker`), two living jobs in a folder (`one_job_a_folder`).
 */
export const kernel: Migration = {
  version: 2,
  name: "kernel",
  sql: `
    CREATE TABLE meta (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE jobs (
      id TEXT PRIMARY KEY,
      -- Order of arrival; the last word of every tie.
      sequence INTEGER NOT NULL UNIQUE,
      project_id TEXT NOT NULL REFERENCES projects (id),
      user_id TEXT NOT NULL REFERENCES users (id),
      name TEXT NOT NULL,
      slug TEXT NOT NULL,
      bucket TEXT NOT NULL,
      output_root TEXT NOT NULL,
      state TEXT NOT NULL,
      version INTEGER NOT NULL,
      desired TEXT NOT NULL CHECK (desired IN ('run', 'stop')),
      -- Why it is to stop, or why it ended: a code of the reason table.
      reason TEXT,
      message TEXT,
      detail TEXT,
      -- Member whose failure decided the reason.
      blamed_member TEXT,
      state_since INTEGER NOT NULL,
      deadline_at INTEGER,
      -- The job's own limit on waiting and running; null when it states none.
      expires_at INTEGER,
      class TEXT NOT NULL DEFAULT 'train',
      priority INTEGER NOT NULL DEFAULT 50,
      selection TEXT NOT NULL,
      only_mine INTEGER NOT NULL,
      estimated_memory_mb INTEGER,
      image TEXT NOT NULL,
      num_rounds INTEGER,
      min_clients INTEGER NOT NULL,
      resumable INTEGER NOT NULL,
      warnings TEXT NOT NULL,
      shard_count INTEGER NOT NULL,
      shard_uncompressed_bytes TEXT NOT NULL,
      attempts_made INTEGER NOT NULL DEFAULT 0,
      failed_binds INTEGER NOT NULL DEFAULT 0,
      retries_infrastructure INTEGER NOT NULL DEFAULT 0,
      retries_lease_lost INTEGER NOT NULL DEFAULT 0,
      retries_out_of_memory INTEGER NOT NULL DEFAULT 0,
      -- Nodes that an infrastructure fault excludes from the next attempt, JSON.
      avoid_nodes TEXT NOT NULL DEFAULT '[]',
      -- Why it waits, in words, as the last cycle saw it.
      waiting_for TEXT,
      audit_op TEXT NOT NULL,
      audit_index INTEGER NOT NULL,
      audit_leaf TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      started_at INTEGER,
      ended_at INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX one_job_a_folder ON jobs (bucket, output_root) WHERE ended_at IS NULL;
    CREATE INDEX jobs_of_project ON jobs (project_id, sequence DESC);
    CREATE INDEX jobs_waiting ON jobs (state, sequence) WHERE ended_at IS NULL;
    CREATE INDEX jobs_due ON jobs (deadline_at) WHERE deadline_at IS NOT NULL;

    CREATE TABLE job_inputs (
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      id TEXT NOT NULL,
      kind TEXT NOT NULL CHECK (kind IN ('script', 'config', 'shard', 'model', 'requirements')),
      key TEXT NOT NULL,
      version_id TEXT NOT NULL,
      etag TEXT NOT NULL,
      size_bytes INTEGER NOT NULL,
      target TEXT NOT NULL,
      -- Which client gets it, from 0 in file-name order; null but for shards.
      shard_index INTEGER,
      PRIMARY KEY (job_id, id)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE attempts (
      id TEXT PRIMARY KEY,
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      number INTEGER NOT NULL,
      server_name TEXT NOT NULL,
      server_port INTEGER NOT NULL,
      ca_cert TEXT,
      -- PEM; gone when the attempt ends.
      ca_key TEXT,
      -- Round that it starts at; greater than 0 when it resumes.
      start_round INTEGER NOT NULL DEFAULT 0,
      nvflare_job TEXT,
      created_at INTEGER NOT NULL,
      ended_at INTEGER,
      end_reason TEXT,
      UNIQUE (job_id, number)
    ) STRICT;
    CREATE UNIQUE INDEX one_live_attempt ON attempts (job_id) WHERE ended_at IS NULL;

    CREATE TABLE members (
      id TEXT PRIMARY KEY,
      attempt_id TEXT NOT NULL REFERENCES attempts (id) ON DELETE CASCADE,
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      role TEXT NOT NULL CHECK (role IN ('server', 'client')),
      site TEXT,
      shard_index INTEGER,
      node_id TEXT NOT NULL REFERENCES nodes (id),
      -- Null for the server, which holds no device.
      worker_id TEXT,
      state TEXT NOT NULL,
      version INTEGER NOT NULL,
      desired TEXT NOT NULL CHECK (desired IN ('run', 'stop')),
      stop_reason TEXT,
      generation INTEGER NOT NULL,
      counter INTEGER NOT NULL,
      -- Highest report taken under this fence.
      last_seq INTEGER NOT NULL DEFAULT 0,
      resources TEXT NOT NULL,
      container TEXT,
      -- Facts told by the agent, each once under a fence.
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
      created_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX members_of_attempt ON members (attempt_id);
    CREATE INDEX members_of_job ON members (job_id);
    CREATE INDEX members_of_node ON members (node_id) WHERE state NOT IN ('RELEASED', 'QUARANTINED');
    CREATE INDEX members_due ON members (deadline_at) WHERE deadline_at IS NOT NULL;

    -- Every fence that was ever given out for a member.
    CREATE TABLE fences (
      member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
      generation INTEGER NOT NULL,
      counter INTEGER NOT NULL,
      node_id TEXT NOT NULL,
      issued_at INTEGER NOT NULL,
      revoked_at INTEGER,
      PRIMARY KEY (member_id, generation, counter)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE nodes (
      id TEXT PRIMARY KEY,
      owner_id TEXT REFERENCES users (id),
      -- JOINED: has a certificate, never registered. REVOKED: its certificate is void.
      state TEXT NOT NULL CHECK (state IN ('JOINED', 'READY', 'SUSPECT', 'DEAD', 'REVOKED')),
      version INTEGER NOT NULL,
      is_cordoned INTEGER NOT NULL DEFAULT 0,
      cordon_reason TEXT,
      certificate_sha256 TEXT NOT NULL,
      generation INTEGER,
      counter INTEGER,
      boot_id TEXT,
      agent_version TEXT,
      inventory TEXT,
      inventory_digest TEXT,
      -- Version of the desired set; the agent fetches when it moves.
      desired_version INTEGER NOT NULL DEFAULT 0,
      -- Times of its latest returns from SUSPECT or DEAD, JSON; three in ten minutes cordon it.
      flaps TEXT NOT NULL DEFAULT '[]',
      joined_at INTEGER NOT NULL,
      registered_at INTEGER,
      state_since INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE workers (
      id TEXT PRIMARY KEY,
      node_id TEXT NOT NULL REFERENCES nodes (id),
      kind TEXT NOT NULL CHECK (kind IN ('gpu', 'cpu')),
      model TEXT NOT NULL,
      memory_bytes INTEGER NOT NULL,
      vendor TEXT,
      is_healthy INTEGER NOT NULL,
      -- False once its node no longer lists it.
      is_present INTEGER NOT NULL,
      is_quarantined INTEGER NOT NULL DEFAULT 0,
      quarantine_reason TEXT
    ) STRICT;
    CREATE INDEX workers_of_node ON workers (node_id);

    -- Who holds which worker; also the interval facts that metering reads. Open = held.
    CREATE TABLE leases (
      id INTEGER PRIMARY KEY,
      worker_id TEXT NOT NULL REFERENCES workers (id),
      member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
      job_id TEXT NOT NULL,
      generation INTEGER NOT NULL,
      counter INTEGER NOT NULL,
      acquired_at INTEGER NOT NULL,
      -- From here to there the member used the device; releasing it is never billed.
      used_from INTEGER,
      used_until INTEGER,
      released_at INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX one_lease_a_worker ON leases (worker_id) WHERE released_at IS NULL;
    CREATE INDEX leases_of_member ON leases (member_id);

    CREATE TABLE join_tokens (
      token_sha256 TEXT PRIMARY KEY,
      node_id TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      used_at INTEGER
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE job_events (
      seq INTEGER PRIMARY KEY,
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      -- Null for an event of the job itself.
      member_id TEXT,
      attempt_id TEXT,
      from_state TEXT,
      to_state TEXT NOT NULL,
      event TEXT NOT NULL,
      reason TEXT,
      generation INTEGER,
      counter INTEGER,
      at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX events_of_job ON job_events (job_id, seq);

    -- Commands, each written by the transaction that decided it and gone once it was carried out.
    CREATE TABLE outbox (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      kind TEXT NOT NULL CHECK (kind IN ('hint', 'abort-upload')),
      node_id TEXT,
      upload_id TEXT,
      -- The acknowledged \`requested\` that this command carries out; null when a transition of the kernel's own asked for it.
      audit_op TEXT,
      audit_index INTEGER,
      audit_leaf TEXT,
      attempts INTEGER NOT NULL DEFAULT 0,
      not_before INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL
    ) STRICT;

    -- Events for auditd in the order of pseq, byte for byte as they will be sent; gone once acknowledged.
    CREATE TABLE audit_outbox (
      pseq INTEGER PRIMARY KEY,
      event TEXT NOT NULL,
      disclosures TEXT NOT NULL,
      created_at INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE uploads (
      id TEXT PRIMARY KEY,
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      member_id TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
      generation INTEGER NOT NULL,
      counter INTEGER NOT NULL,
      bucket TEXT NOT NULL,
      key TEXT NOT NULL,
      -- Null while the engine is being asked to open it.
      s3_upload_id TEXT,
      is_log INTEGER NOT NULL,
      size_bytes INTEGER NOT NULL,
      sha256 TEXT NOT NULL,
      part_size_bytes INTEGER NOT NULL,
      part_count INTEGER NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('OPEN', 'COMPLETING', 'COMPLETED', 'ABORTED')),
      etags TEXT,
      version_id TEXT,
      etag TEXT,
      opened_at INTEGER NOT NULL,
      closed_at INTEGER
    ) STRICT;
    CREATE INDEX uploads_of_job ON uploads (job_id, key);
    CREATE INDEX uploads_open ON uploads (member_id) WHERE state IN ('OPEN', 'COMPLETING');

    CREATE TABLE rounds (
      attempt_id TEXT NOT NULL REFERENCES attempts (id) ON DELETE CASCADE,
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      round INTEGER NOT NULL,
      num_rounds INTEGER,
      started_at INTEGER,
      ended_at INTEGER,
      sites TEXT NOT NULL DEFAULT '[]',
      model_sha256 TEXT,
      PRIMARY KEY (attempt_id, round)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX rounds_of_job ON rounds (job_id);

    CREATE TABLE metrics (
      seq INTEGER PRIMARY KEY,
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      attempt_id TEXT NOT NULL,
      site TEXT NOT NULL,
      -- The JSON that the job printed, at most 4 KiB.
      value TEXT NOT NULL,
      at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX metrics_of_job ON metrics (job_id, seq);
  `,
};
