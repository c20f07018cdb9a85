import type { Migration } from "@resontech/frame/migrate";

/** Inputs that lie in another bucket than their job's, with the digest of what the platform itself stored; and the models of the hub. */
export const models: Migration = {
  version: 23,
  name: "models",
  sql: `
    -- Null: the job's own.
    ALTER TABLE job_inputs ADD COLUMN bucket TEXT;
    -- Null: nobody but who uploaded it knows.
    ALTER TABLE job_inputs ADD COLUMN sha256 TEXT;
    CREATE INDEX inputs_of_other_buckets ON job_inputs (bucket) WHERE bucket IS NOT NULL;

    CREATE TABLE hub_models (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      revision TEXT NOT NULL,
      -- Null until all digests are known.
      commit_id TEXT,
      -- Of the object that says the commit, in the layout of a cache.
      ref_version TEXT,
      ref_etag TEXT,
      licence TEXT NOT NULL,
      -- Where its files lie.
      bucket TEXT NOT NULL,
      project_id TEXT NOT NULL,
      added_by TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('CHECKING', 'READY', 'FAILED')),
      why TEXT,
      created_at INTEGER NOT NULL,
      UNIQUE (name, revision)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX hub_models_of_bucket ON hub_models (bucket);

    CREATE TABLE hub_files (
      model_id TEXT NOT NULL REFERENCES hub_models (id) ON DELETE CASCADE,
      path TEXT NOT NULL,
      key TEXT NOT NULL,
      version_id TEXT NOT NULL,
      etag TEXT NOT NULL,
      size_bytes INTEGER NOT NULL,
      sha256 TEXT,
      PRIMARY KEY (model_id, path)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX hub_files_by_version ON hub_files (key, version_id);
  `,
};
