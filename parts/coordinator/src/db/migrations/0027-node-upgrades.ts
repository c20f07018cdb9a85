import type { Migration } from "@resontech/frame/migrate";

/**
 * Which release a node runs, which counts for the registration that told it: an older program registers nodes without noting any. And which one a node
 * is to bring; one order at a time.
 */
export const nodeUpgrades: Migration = {
  version: 27,
  name: "node-upgrades",
  sql: `
    ALTER TABLE nodes ADD COLUMN release TEXT;
    ALTER TABLE nodes ADD COLUMN release_at INTEGER;

    CREATE TABLE node_upgrades (
      node_id TEXT PRIMARY KEY REFERENCES nodes (id),
      order_id TEXT NOT NULL,
      release TEXT NOT NULL,
      -- Which of its order's waves it goes with, from 0.
      wave INTEGER NOT NULL,
      -- Workers that were well when it was ordered: as many are to be well afterwards.
      well_before INTEGER NOT NULL,
      ordered_at INTEGER NOT NULL,
      -- Told to begin.
      begun_at INTEGER,
      ended_at INTEGER,
      -- Why it failed; null where it did not.
      code TEXT,
      message TEXT
    ) STRICT, WITHOUT ROWID;
  `,
};
