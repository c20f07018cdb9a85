import type { Migration } from "@resontech/daemon/migrate";

/** What people signed at a step-up for a request; evidence that auditd and the vault check themselves. */
export const stepUpSignatures: Migration = {
  version: 18,
  name: "step_up_signatures",
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
  `,
};
