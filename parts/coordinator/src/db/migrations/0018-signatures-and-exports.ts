import type { Migration } from "@resontech/frame/migrate";

/**
 * What people signed at a step-up for a request: evidence that auditd and the vault check themselves. And which projects' outputs leave by approval alone, and
 * what was released of them.
 */
export const signaturesAndExports: Migration = {
  version: 18,
  name: "signatures_and_exports",
  // An older program would let outputs out.
  minReader: 18,
  sql: `
    CREATE TABLE step_up_signatures (
      approval_id TEXT NOT NULL REFERENCES approvals (id),
      answer TEXT NOT NULL CHECK (answer IN ('request', 'approve')),
      user_id TEXT NOT NULL REFERENCES users (id),
      salt TEXT NOT NULL,
      -- An ID token: good for no request to the API.
      token TEXT NOT NULL,
      signed_at INTEGER NOT NULL,
      PRIMARY KEY (approval_id, answer, user_id)
    ) STRICT, WITHOUT ROWID;

    ALTER TABLE projects ADD COLUMN exports_by_approval INTEGER NOT NULL DEFAULT 0 CHECK (exports_by_approval IN (0, 1));
    CREATE TABLE export_grants (
      approval_id TEXT NOT NULL REFERENCES approvals (id),
      user_id TEXT NOT NULL REFERENCES users (id),
      bucket TEXT NOT NULL REFERENCES buckets (name),
      key TEXT NOT NULL,
      version_id TEXT NOT NULL,
      until INTEGER NOT NULL,
      PRIMARY KEY (bucket, key, user_id, version_id, approval_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX export_grants_until ON export_grants (until);
  `,
};
