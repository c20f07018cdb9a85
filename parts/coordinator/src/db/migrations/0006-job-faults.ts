import type { Migration } from "@resontech/frame/migrate";

/**
 * What each job left, by version. What people must hear of a job though it goes on, once for each site and topic; whose failure a server tells of; a job's stated time; memory
 * that its server was found to need.
 */
export const jobFaults: Migration = {
  version: 6,
  name: "job-faults",
  sql: `
    CREATE TABLE job_warnings (
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      site TEXT NOT NULL,
      topic TEXT NOT NULL,
      text TEXT NOT NULL,
      times INTEGER NOT NULL,
      -- Null where it belongs to no round.
      first_round INTEGER,
      last_round INTEGER,
      PRIMARY KEY (job_id, site, topic)
    ) STRICT, WITHOUT ROWID;

    -- Of each key the newest that the job stored: it is kept as long as the job is.
    CREATE TABLE job_outputs (
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      key TEXT NOT NULL,
      upload_id TEXT NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
      -- A later job of the same folder laid a delete marker over it.
      is_hidden INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (job_id, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX job_outputs_of_upload ON job_outputs (upload_id);
    INSERT INTO job_outputs (job_id, key, upload_id)
      SELECT job_id, key, id FROM (
        SELECT job_id, key, id, row_number() OVER (PARTITION BY job_id, key ORDER BY closed_at DESC, rowid DESC) AS newest
        FROM uploads WHERE state = 'COMPLETED' AND is_log = 0 AND key NOT LIKE 'ckpt/%'
      ) WHERE newest = 1;

    CREATE TABLE outbox_with_hiding (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      kind TEXT NOT NULL CHECK (kind IN ('hint', 'abort-upload', 'remove-version', 'hide-output')),
      node_id TEXT,
      -- Of all but hints: the upload whose object it is about.
      upload_id TEXT,
      audit_op TEXT,
      audit_index INTEGER,
      audit_leaf TEXT,
      attempts INTEGER NOT NULL DEFAULT 0,
      not_before INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL
    ) STRICT;
    INSERT INTO outbox_with_hiding SELECT * FROM outbox;
    DROP TABLE outbox;
    ALTER TABLE outbox_with_hiding RENAME TO outbox;

    -- Files of a site may be patients' data: they leave it only where this says so.
    ALTER TABLE projects ADD COLUMN returns_site_files INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE members ADD COLUMN failed_site TEXT;
    -- From its first start; null = none stated.
    ALTER TABLE jobs ADD COLUMN time_limit_ms INTEGER;
    -- Of the server's container, after one that ended out of memory; null = as its model asks for.
    ALTER TABLE jobs ADD COLUMN server_memory_bytes INTEGER;
    -- Of the warm start's file; 0 where there is none.
    ALTER TABLE jobs ADD COLUMN model_bytes INTEGER NOT NULL DEFAULT 0;
    UPDATE jobs SET model_bytes = coalesce((SELECT sum(size_bytes) FROM job_inputs WHERE job_id = jobs.id AND kind = 'model'), 0);
  `,
};
