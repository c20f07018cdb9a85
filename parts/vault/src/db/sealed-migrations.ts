import type { Migration } from "@resontech/frame/migrate";

/**
 * `commitments` and `erased` stand apart: of what was erased only that it was, and by which entry, is kept. `acts` are what the vault does on record;
 * `outbox` what it has said of them, byte for byte, until the log is known to have it.
 */
const begin: Migration = {
  version: 1,
  name: "begin",
  sql: `
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE acts (
      op TEXT PRIMARY KEY,
      kind TEXT NOT NULL CHECK (kind IN ('erasure', 'retention', 'hold', 'disclose', 'refusal')),
      subject TEXT,
      state TEXT NOT NULL CHECK (state IN ('asked', 'requested', 'destroyed', 'completed', 'done', 'failed')),
      request TEXT NOT NULL,
      result TEXT,
      began_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX acts_of_subject ON acts (subject, kind);
    CREATE TABLE outbox (
      pseq INTEGER PRIMARY KEY,
      op TEXT NOT NULL,
      phase TEXT NOT NULL,
      event TEXT NOT NULL,
      origin TEXT,
      idx INTEGER,
      leaf_hash TEXT
    ) STRICT;
    CREATE INDEX outbox_unanswered ON outbox (pseq) WHERE idx IS NULL;
    CREATE INDEX outbox_of_op ON outbox (op);
    CREATE TABLE commitments (
      origin TEXT NOT NULL,
      idx INTEGER NOT NULL,
      field TEXT NOT NULL,
      commitment BLOB NOT NULL,
      subject TEXT NOT NULL,
      month TEXT NOT NULL,
      sealed BLOB NOT NULL,
      PRIMARY KEY (origin, idx, field)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX commitments_of_subject ON commitments (subject, month);
    CREATE TABLE erased (
      origin TEXT NOT NULL,
      idx INTEGER NOT NULL,
      field TEXT NOT NULL,
      commitment BLOB NOT NULL,
      op TEXT NOT NULL REFERENCES acts (op),
      PRIMARY KEY (origin, idx, field)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX erased_by ON erased (op);
    CREATE TABLE epochs (
      id TEXT PRIMARY KEY,
      made_at INTEGER NOT NULL,
      ends_at INTEGER NOT NULL,
      backed_up_at INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE holds (
      hold TEXT PRIMARY KEY,
      subject TEXT NOT NULL,
      set_by TEXT NOT NULL REFERENCES acts (op)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX holds_of_subject ON holds (subject);
  `,
};

/** The order in which acts destroyed: whoever keeps tokens of values asks for what was destroyed since. */
const destroyed: Migration = {
  version: 2,
  name: "destroyed",
  sql: `
    CREATE TABLE destroyed (n INTEGER PRIMARY KEY AUTOINCREMENT, op TEXT NOT NULL UNIQUE REFERENCES acts (op)) STRICT;
    INSERT INTO destroyed (op) SELECT DISTINCT op FROM erased;
  `,
};

/** What an act has begun to destroy is decided once, and kept until it is destroyed. */
const doomed: Migration = {
  version: 3,
  name: "doomed",
  sql: `
    CREATE TABLE acts_with_destroying (
      op TEXT PRIMARY KEY,
      kind TEXT NOT NULL CHECK (kind IN ('erasure', 'retention', 'hold', 'disclose', 'refusal')),
      subject TEXT,
      state TEXT NOT NULL CHECK (state IN ('asked', 'requested', 'destroying', 'destroyed', 'completed', 'done', 'failed')),
      request TEXT NOT NULL,
      result TEXT,
      began_at INTEGER NOT NULL,
      destroyed_at INTEGER
    ) STRICT, WITHOUT ROWID;
    -- When older ones destroyed was not written down.
    INSERT INTO acts_with_destroying
      SELECT op, kind, subject, state, request, result, began_at,
        iif(kind IN ('erasure', 'retention') AND state IN ('destroyed', 'completed', 'done'), began_at, NULL)
      FROM acts;
    DROP TABLE acts;
    ALTER TABLE acts_with_destroying RENAME TO acts;
    CREATE INDEX acts_of_subject ON acts (subject, kind);
    CREATE TABLE doomed (
      op TEXT NOT NULL REFERENCES acts (op), subject TEXT NOT NULL, month TEXT NOT NULL, PRIMARY KEY (op, subject, month)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX doomed_subject ON doomed (subject);
  `,
};

export const SEALED_MIGRATIONS: readonly Migration[] = [begin, destroyed, doomed];
