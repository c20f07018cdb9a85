import type { Migration } from "@resontech/frame/migrate";

/** What people work in together, and with: organisations, teams and projects with members, SSH keys; each project has a bucket, for which each member has a key pair of the own. */
export const projects: Migration = {
  version: 16,
  name: "projects",
  // An older program asks a bucket for its one owner and pair, and they stand elsewhere now.
  minReader: 16,
  sql: `
    CREATE TABLE organisations (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL COLLATE NOCASE UNIQUE,
      created_at INTEGER NOT NULL
    ) STRICT;
    -- Whom the appliance belongs to; teams of others come with more of them.
    INSERT INTO organisations (id, name, created_at) VALUES ('o_own', 'own', 0);

    CREATE TABLE teams (
      id TEXT PRIMARY KEY,
      organisation_id TEXT NOT NULL REFERENCES organisations (id),
      name TEXT NOT NULL COLLATE NOCASE,
      created_at INTEGER NOT NULL,
      UNIQUE (organisation_id, name)
    ) STRICT;

    -- Null for a user's own first project, which is of no team.
    ALTER TABLE projects ADD COLUMN team_id TEXT REFERENCES teams (id);
    CREATE UNIQUE INDEX projects_team ON projects (team_id, name COLLATE NOCASE) WHERE team_id IS NOT NULL;

    CREATE TABLE project_buckets (
      name TEXT PRIMARY KEY,
      project_id TEXT NOT NULL UNIQUE REFERENCES projects (id),
      -- Names the bucket in the audit log: the user whose first project it is, of any other the project.
      log_id TEXT NOT NULL UNIQUE,
      quota_bytes INTEGER NOT NULL CHECK (quota_bytes >= 0),
      -- When the engine had it; null until then.
      made_at INTEGER,
      -- Which rights the policy was last given, as a digest of them; null for a bucket of an older program.
      rights TEXT,
      created_at INTEGER NOT NULL
    ) STRICT;
    -- Of a member for the project's bucket. pending is a pair whose secret nobody has seen yet, retired one that has yet to be
    -- taken from the engine: both are swept at start.
    CREATE TABLE bucket_pairs (
      bucket TEXT NOT NULL REFERENCES project_buckets (name),
      user_id TEXT NOT NULL REFERENCES users (id),
      access_key_id TEXT UNIQUE,
      pending_access_key_id TEXT,
      retired_access_key_id TEXT,
      created_at INTEGER NOT NULL,
      PRIMARY KEY (bucket, user_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX bucket_pairs_user ON bucket_pairs (user_id);

    -- Public keys of people, as lines of a .pub file.
    CREATE TABLE ssh_keys (
      user_id TEXT NOT NULL REFERENCES users (id),
      position INTEGER NOT NULL,
      line TEXT NOT NULL,
      PRIMARY KEY (user_id, position)
    ) STRICT, WITHOUT ROWID;

    INSERT INTO project_buckets (name, project_id, log_id, quota_bytes, made_at, rights, created_at)
      SELECT b.name, p.id, b.owner_id, b.quota_bytes,
        iif(b.access_key_id IS NOT NULL OR b.rights IS NOT NULL, b.created_at, NULL), b.rights, b.created_at
      FROM buckets b JOIN projects p ON p.owner_id = b.owner_id AND p.is_default = 1;
    INSERT INTO bucket_pairs (bucket, user_id, access_key_id, pending_access_key_id, retired_access_key_id, created_at)
      SELECT name, owner_id, access_key_id, pending_access_key_id, retired_access_key_id, created_at FROM buckets
      WHERE access_key_id IS NOT NULL OR pending_access_key_id IS NOT NULL OR retired_access_key_id IS NOT NULL;
    DROP TABLE buckets;
    ALTER TABLE project_buckets RENAME TO buckets;
  `,
};
