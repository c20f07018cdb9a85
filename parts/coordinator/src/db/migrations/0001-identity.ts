import type { Migration } from "@resontech/frame/migrate";

/** People, projects, platform keys, buckets, and what `Idempotency-Key` stood for. Instants are milliseconds since 1970. */
export const identity: Migration = {
  version: 1,
  name: "identity",
  sql: `
    -- id is a random pseudonym: it alone stands in the audit log, and erasing the row erases who it was.
    CREATE TABLE users (
      id TEXT PRIMARY KEY,
      username TEXT NOT NULL COLLATE NOCASE UNIQUE,
      is_admin INTEGER NOT NULL CHECK (is_admin IN (0, 1)),
      created_at INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE projects (
      id TEXT PRIMARY KEY,
      owner_id TEXT NOT NULL REFERENCES users (id),
      name TEXT NOT NULL,
      is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
      created_at INTEGER NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX projects_default ON projects (owner_id) WHERE is_default = 1;
    CREATE INDEX projects_owner ON projects (owner_id);

    -- access_key_id is null until the engine has bucket, key pair and policy. pending is a pair whose secret nobody has
    -- seen yet, retired one that has yet to be taken from the engine: both are swept at start.
    CREATE TABLE buckets (
      name TEXT PRIMARY KEY,
      owner_id TEXT NOT NULL UNIQUE REFERENCES users (id),
      quota_bytes INTEGER NOT NULL CHECK (quota_bytes >= 0),
      access_key_id TEXT UNIQUE,
      pending_access_key_id TEXT,
      retired_access_key_id TEXT,
      created_at INTEGER NOT NULL
    ) STRICT;

    -- hash is SHA-256 of the whole key; prefix and last4 are what a list shows.
    CREATE TABLE platform_keys (
      id TEXT PRIMARY KEY,
      hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
      prefix TEXT NOT NULL,
      last4 TEXT NOT NULL,
      name TEXT NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id),
      project_id TEXT NOT NULL REFERENCES projects (id),
      scopes TEXT NOT NULL CHECK (json_valid(scopes)),
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      last_used_at INTEGER,
      revoked_at INTEGER
    ) STRICT;
    CREATE INDEX platform_keys_user ON platform_keys (user_id);

    -- job_id is null once the job is deleted: the key is spent all the same.
    CREATE TABLE idempotency (
      project_id TEXT NOT NULL REFERENCES projects (id),
      key TEXT NOT NULL,
      body_sha256 TEXT NOT NULL,
      job_id TEXT,
      created_at INTEGER NOT NULL,
      PRIMARY KEY (project_id, key)
    ) STRICT, WITHOUT ROWID;
  `,
};
