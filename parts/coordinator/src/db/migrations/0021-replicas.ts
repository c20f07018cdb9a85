import type { Migration } from "@resontech/frame/migrate";

/**
 * Jobs whose attempts are replicas: several live at once, each placed and ended by itself. Of every other job one attempt lives, as before. A deployment's
 * row is what the reducer of its states last came to.
 */
export const replicas: Migration = {
  version: 21,
  name: "replicas",
  sql: `
    ALTER TABLE attempts ADD COLUMN is_replica INTEGER NOT NULL DEFAULT 0 CHECK (is_replica IN (0, 1));
    DROP INDEX one_live_attempt;
    CREATE UNIQUE INDEX one_live_attempt ON attempts (job_id) WHERE ended_at IS NULL AND is_replica = 0;
    CREATE INDEX live_replicas ON attempts (job_id) WHERE ended_at IS NULL AND is_replica = 1;

    -- Replicas that are wanted and have no worker yet.
    ALTER TABLE jobs ADD COLUMN replicas_due INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX jobs_with_replicas_due ON jobs (sequence) WHERE replicas_due > 0;

    CREATE TABLE deployments (
      job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
      generation INTEGER NOT NULL,
      state TEXT NOT NULL,
      -- JSON of the reducer's own.
      body TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
};
