import type { Migration } from "@resontech/frame/migrate";

/** People of the customer's directories: where each comes from, which groups give roles, who left; and what Keycloak saw, each event once. */
export const directories: Migration = {
  version: 15,
  name: "directories",
  sql: `
    -- Name of the connection and the person's id there; null of a user whom Keycloak itself keeps.
    -- storage: Keycloak reads the directory and sees who left. broker: somebody else signs the person in, and tells of no leaver.
    ALTER TABLE users ADD COLUMN source TEXT;
    ALTER TABLE users ADD COLUMN source_subject TEXT;
    ALTER TABLE users ADD COLUMN source_kind TEXT CHECK (source_kind IN ('storage', 'broker'));
    ALTER TABLE users ADD COLUMN signed_in_at INTEGER;
    -- The account is gone where it was kept; the next sign-in takes this back.
    ALTER TABLE users ADD COLUMN left_at INTEGER;
    CREATE UNIQUE INDEX users_source ON users (source, source_subject) WHERE source IS NOT NULL;

    -- A group's name begins with its connection's: corp/doctors.
    CREATE TABLE group_roles (
      group_name TEXT NOT NULL,
      project_id TEXT NOT NULL REFERENCES projects (id),
      role TEXT NOT NULL CHECK (role IN ('project-lead', 'researcher', 'viewer')),
      PRIMARY KEY (group_name, project_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX group_roles_project ON group_roles (project_id);
    -- Roles of the whole appliance are never given by a group: they are asked for.
    CREATE TABLE group_requests (
      group_name TEXT NOT NULL,
      role TEXT NOT NULL,
      PRIMARY KEY (group_name, role)
    ) STRICT, WITHOUT ROWID;
    -- As Keycloak's last answer says; groups that mean nothing here are not kept.
    CREATE TABLE user_groups (
      user_id TEXT NOT NULL REFERENCES users (id),
      group_name TEXT NOT NULL,
      PRIMARY KEY (user_id, group_name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE role_requests (
      user_id TEXT NOT NULL REFERENCES users (id),
      role TEXT NOT NULL,
      requested_at INTEGER NOT NULL,
      PRIMARY KEY (user_id, role)
    ) STRICT, WITHOUT ROWID;

    -- How far Keycloak's two streams of events are read, by Keycloak's clock, and which events of the last minutes are written already.
    CREATE TABLE keycloak_cursors (
      stream TEXT PRIMARY KEY,
      at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE keycloak_events_seen (
      id TEXT PRIMARY KEY,
      stream TEXT NOT NULL,
      at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX keycloak_events_seen_by_age ON keycloak_events_seen (stream, at);
  `,
};
