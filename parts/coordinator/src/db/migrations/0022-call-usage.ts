import type { Migration } from "@resontech/frame/migrate";

/**
 * What each key has used of each deployment, day by day in UTC. A row is what the gateway last told of that day, each number never less than before: what
 * is told twice counts once. It stays when its job goes.
 */
export const callUsage: Migration = {
  version: 22,
  name: "call-usage",
  sql: `
    CREATE TABLE call_usage (
      day TEXT NOT NULL,
      job_id TEXT NOT NULL,
      key_sha256 TEXT NOT NULL,
      -- Null: the deployment's own key, or one that nobody knows any more.
      key_id TEXT,
      project_id TEXT NOT NULL,
      calls INTEGER NOT NULL,
      failed INTEGER NOT NULL,
      inexact INTEGER NOT NULL,
      prompt_tokens INTEGER NOT NULL,
      completion_tokens INTEGER NOT NULL,
      PRIMARY KEY (day, job_id, key_sha256)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX call_usage_project ON call_usage (project_id, day);
  `,
};
