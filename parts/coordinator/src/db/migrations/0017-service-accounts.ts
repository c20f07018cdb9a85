import type { Migration } from "@resontech/frame/migrate";

/** Programs of projects, which sign in by a key of their own and own jobs as people do. */
export const serviceAccounts: Migration = {
  version: 17,
  name: "service-accounts",
  sql: `
    -- A service account has a row here, because it owns jobs. It is no person: nobody signs in as it, and it is in no list of people.
    ALTER TABLE users ADD COLUMN kind TEXT NOT NULL DEFAULT 'person' CHECK (kind IN ('person', 'service-account'));

    -- users.subject of the account is Keycloak's id of the client's own user.
    CREATE TABLE service_accounts (
      id TEXT PRIMARY KEY REFERENCES users (id),
      project_id TEXT NOT NULL REFERENCES projects (id),
      name TEXT NOT NULL,
      client_id TEXT NOT NULL UNIQUE,
      scopes TEXT NOT NULL CHECK (json_valid(scopes)),
      -- SHA-256 of the public key, RFC 7638. The key itself is Keycloak's.
      thumbprint TEXT NOT NULL,
      created_by TEXT NOT NULL REFERENCES users (id),
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      last_used_at INTEGER,
      revoked_at INTEGER,
      -- By which Keycloak takes the client away, sealed; null once it is gone there.
      registration BLOB
    ) STRICT;
    CREATE INDEX service_accounts_project ON service_accounts (project_id);
  `,
};
