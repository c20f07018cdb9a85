import type { Migration } from "@resontech/frame/migrate";

/**
 * Requests of kinds that the release before does not know stand in tables of their own: it would answer every list of requests with an error. After a
 * rollback it shows the others, and this release finds all again.
 */
export const laterApprovals: Migration = {
  version: 32,
  name: "later_approvals",
  sql: `
    CREATE TABLE later_approvals (
      id TEXT PRIMARY KEY,
      kind TEXT NOT NULL,
      -- What is asked for, by the schema of its kind.
      what TEXT NOT NULL CHECK (json_valid(what)),
      requester_id TEXT NOT NULL REFERENCES users (id),
      project_id TEXT REFERENCES projects (id),
      state TEXT NOT NULL CHECK (state IN ('requested', 'approved', 'denied', 'withdrawn', 'expired')),
      decider_id TEXT REFERENCES users (id),
      reason TEXT,
      -- Nobody else was there who could have answered.
      single_person INTEGER NOT NULL CHECK (single_person IN (0, 1)),
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      decided_at INTEGER
    ) STRICT;
    CREATE INDEX later_approvals_open ON later_approvals (expires_at) WHERE state = 'requested';
    CREATE INDEX later_approvals_requester ON later_approvals (requester_id);

    CREATE TABLE later_signatures (
      approval_id TEXT NOT NULL REFERENCES later_approvals (id),
      answer TEXT NOT NULL CHECK (answer IN ('request', 'approve')),
      user_id TEXT NOT NULL REFERENCES users (id),
      salt TEXT NOT NULL,
      token TEXT NOT NULL,
      signed_at INTEGER NOT NULL,
      PRIMARY KEY (approval_id, answer, user_id)
    ) STRICT, WITHOUT ROWID;

    CREATE VIEW every_approval AS SELECT * FROM approvals UNION ALL SELECT * FROM later_approvals;
    CREATE VIEW every_signature AS SELECT * FROM step_up_signatures UNION ALL SELECT * FROM later_signatures;
  `,
};
