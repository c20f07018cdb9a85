import type { Migration } from "@resontech/frame/migrate";

/** People who sign in: whom Keycloak knows as which user, who belongs to which project, and the sessions of browsers. */
export const people: Migration = {
  version: 12,
  name: "people",
  sql: `
    -- subject is Keycloak's id of the person: users are linked by it alone, never by name or mail. Null until Keycloak knows the user.
    ALTER TABLE users ADD COLUMN subject TEXT;
    CREATE UNIQUE INDEX users_subject ON users (subject) WHERE subject IS NOT NULL;

    CREATE TABLE project_members (
      project_id TEXT NOT NULL REFERENCES projects (id),
      user_id TEXT NOT NULL REFERENCES users (id),
      role TEXT NOT NULL CHECK (role IN ('project-lead', 'researcher', 'viewer')),
      created_at INTEGER NOT NULL,
      PRIMARY KEY (project_id, user_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX project_members_user ON project_members (user_id);
    -- Whose project it is leads it.
    INSERT INTO project_members (project_id, user_id, role, created_at)
      SELECT id, owner_id, 'project-lead', created_at FROM projects;

    -- hash is SHA-256 of what the cookie holds. sid is Keycloak's session, which several of ours may share.
    -- tokens are sealed: a copy of this file alone opens no session at Keycloak.
    CREATE TABLE sessions (
      hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
      id TEXT NOT NULL UNIQUE,
      user_id TEXT NOT NULL REFERENCES users (id),
      sid TEXT NOT NULL,
      roles TEXT NOT NULL CHECK (json_valid(roles)),
      acr TEXT NOT NULL,
      -- When the person showed credentials at the level of acr.
      signed_in_at INTEGER NOT NULL,
      began_at INTEGER NOT NULL,
      active_at INTEGER NOT NULL,
      ends_at INTEGER NOT NULL,
      -- When Keycloak last said that its session and the person are still there.
      checked_at INTEGER NOT NULL,
      tokens BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sessions_user ON sessions (user_id);
    CREATE INDEX sessions_sid ON sessions (sid);

    -- Sessions of Keycloak that are over: an access token of one is refused though its own five minutes are not.
    CREATE TABLE ended_sids (
      sid TEXT PRIMARY KEY,
      ended_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
};
