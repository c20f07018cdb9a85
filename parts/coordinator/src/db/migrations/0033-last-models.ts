import type { Migration } from "@resontech/frame/migrate";

/** What an end without success leaves of a training: its last committed model, as an output. And whether models and updates hold numbers at all. */
export const lastModels: Migration = {
  version: 33,
  name: "last_models",
  sql: `
    CREATE TABLE last_models (
      job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
      round INTEGER NOT NULL,
      -- The committed model.
      checkpoint_upload TEXT NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
      -- Its copy among the job's outputs; null until that stands.
      output_upload TEXT REFERENCES uploads (id) ON DELETE CASCADE,
      attempts INTEGER NOT NULL DEFAULT 0,
      not_before INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX last_models_due ON last_models (not_before) WHERE output_upload IS NULL;
    CREATE INDEX last_models_of_checkpoint ON last_models (checkpoint_upload);
    CREATE INDEX last_models_of_output ON last_models (output_upload);

    -- Null where nobody could look, as of a workflow that saves no model.
    ALTER TABLE rounds ADD COLUMN is_finite INTEGER CHECK (is_finite IN (0, 1));
    -- A model with a weight that is no number fails the job.
    ALTER TABLE projects ADD COLUMN refuses_non_finite INTEGER NOT NULL DEFAULT 0 CHECK (refuses_non_finite IN (0, 1));
  `,
};
