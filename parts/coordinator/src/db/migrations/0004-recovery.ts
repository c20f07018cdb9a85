import type { Migration } from "@resontech/frame/migrate";

/**
 * Recovery: committed rounds of federated jobs, attempts that go on from one, and clients that take a lost one's place. A row of
 * `checkpoints` is the pointer: what has none was never committed, whatever lies in the bucket.
 */
export const recovery: Migration = {
  version: 4,
  name: "recovery",
  sql: `
    CREATE TABLE checkpoints (
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      attempt_id TEXT NOT NULL REFERENCES attempts (id) ON DELETE CASCADE,
      round INTEGER NOT NULL,
      -- Uploads of the server's member, both COMPLETED when this was written.
      model_upload TEXT NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
      manifest_upload TEXT NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
      committed_at INTEGER NOT NULL,
      PRIMARY KEY (attempt_id, round)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX checkpoints_of_job ON checkpoints (job_id, round);

    -- Where the user's own configuration starts to count.
    ALTER TABLE jobs ADD COLUMN first_round INTEGER NOT NULL DEFAULT 0;
    -- Upload of the model that a resumed attempt starts from.
    ALTER TABLE attempts ADD COLUMN resumed_from TEXT REFERENCES uploads (id);

    -- A client of the same attempt and site that was lost, and whose place this one takes.
    ALTER TABLE members ADD COLUMN replaces TEXT REFERENCES members (id);
    CREATE UNIQUE INDEX one_replacement ON members (replaces) WHERE replaces IS NOT NULL;

    CREATE TABLE outbox_with_removals (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      kind TEXT NOT NULL CHECK (kind IN ('hint', 'abort-upload', 'remove-version')),
      node_id TEXT,
      -- Of \`remove-version\`: the upload whose object is not needed any more.
      upload_id TEXT,
      audit_op TEXT,
      audit_index INTEGER,
      audit_leaf TEXT,
      attempts INTEGER NOT NULL DEFAULT 0,
      not_before INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL
    ) STRICT;
    INSERT INTO outbox_with_removals SELECT * FROM outbox;
    DROP TABLE outbox;
    ALTER TABLE outbox_with_removals RENAME TO outbox;
  `,
};
