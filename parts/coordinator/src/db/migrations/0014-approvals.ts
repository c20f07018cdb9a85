import type { Migration } from "@resontech/frame/migrate";

/** What needs a second person: who asked for it, who answered. And who holds which role of the whole appliance, as Keycloak last said. */
export const approvals: Migration = {
  version: 14,
  name: "approvals",
  sql: `
    CREATE TABLE approvals (
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
    CREATE INDEX approvals_open ON approvals (expires_at) WHERE state = 'requested';
    CREATE INDEX approvals_requester ON approvals (requester_id);

    CREATE TABLE role_holders (
      user_id TEXT NOT NULL REFERENCES users (id),
      role TEXT NOT NULL,
      PRIMARY KEY (user_id, role)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO role_holders (user_id, role) SELECT id, 'platform-admin' FROM users WHERE is_admin = 1;
  `,
};
