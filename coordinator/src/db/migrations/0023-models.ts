import type { Migration } from "@resontech/daemon/migrate";

/** Inputs that lie in another bucket than their job's, with the digest of what the platform itself stored. */
export const models: Migration = {
  version: 23,
  name: "models",
  sql: `
    -- Null: the job's own.
    ALTER TABLE job_inputs ADD COLUMN bucket TEXT;
    -- Null: nobody but who uploaded it knows.
    ALTER TABLE job_inputs ADD COLUMN sha256 TEXT;
    CREATE INDEX inputs_of_other_buckets ON job_inputs (bucket) WHERE bucket IS NOT NULL;
  `,
};
