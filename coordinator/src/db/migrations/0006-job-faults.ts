import type { Migration } from "../migration.ts";

/**
 * What people must hear of a job though it goes on, once for each site and topic; whose failure a server tells of; a job's stated time; memory
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
