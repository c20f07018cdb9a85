import type { Migration } from "@resontech/frame/migrate";

const begin: Migration = {
  version: 1,
  name: "begin",
  sql: `
    CREATE TABLE keys (
      subject TEXT NOT NULL,
      month TEXT NOT NULL,
      wrapped BLOB NOT NULL,
      made_at INTEGER NOT NULL,
      PRIMARY KEY (subject, month)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX keys_of_month ON keys (month);
    CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
  `,
};

export const KEYS_MIGRATIONS: readonly Migration[] = [begin];
