import type { Migration } from "@resontech/frame/migrate";

/** Whose nodes are, by which rules, and when they are for one project alone, or for nobody. An older release places as if there were neither. */
export const pools: Migration = {
  version: 39,
  name: "pools",
  sql: `
    CREATE TABLE pools (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      kind TEXT NOT NULL CHECK (kind IN ('shared', 'managed', 'private')),
      -- Whose it is; null: everybody's.
      project_id TEXT REFERENCES projects (id),
      -- Others may use what is idle, and make way.
      lends INTEGER NOT NULL DEFAULT 0,
      most_run_ms INTEGER,
      -- JSON; null: all.
      classes TEXT,
      created_at INTEGER NOT NULL,
      changed_at INTEGER NOT NULL,
      CHECK ((kind = 'shared') = (project_id IS NULL)),
      CHECK (lends = 0 OR kind = 'managed')
    ) STRICT, WITHOUT ROWID;
    -- A node is in one pool at most; one that is in none is everybody's.
    CREATE TABLE pool_nodes (
      node_id TEXT PRIMARY KEY REFERENCES nodes (id),
      pool_id TEXT NOT NULL REFERENCES pools (id) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX pool_nodes_of_pool ON pool_nodes (pool_id);

    -- Times of the calendar: no step of the clock moves them.
    CREATE TABLE calendar (
      id TEXT PRIMARY KEY,
      -- For whom the nodes are; null: for nobody, as in maintenance.
      project_id TEXT REFERENCES projects (id),
      -- Of the pool's nodes as they are at any time; null: of those in calendar_nodes.
      pool_id TEXT REFERENCES pools (id) ON DELETE CASCADE,
      from_at INTEGER NOT NULL,
      until_at INTEGER NOT NULL,
      reason TEXT,
      -- Null: the root of the host.
      made_by TEXT REFERENCES users (id),
      created_at INTEGER NOT NULL,
      CHECK (from_at < until_at)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX calendar_by_end ON calendar (until_at);
    CREATE TABLE calendar_nodes (
      entry_id TEXT NOT NULL REFERENCES calendar (id) ON DELETE CASCADE,
      node_id TEXT NOT NULL REFERENCES nodes (id),
      PRIMARY KEY (entry_id, node_id)
    ) STRICT, WITHOUT ROWID;

    -- What people are to hear of jobs that run where the calendar wants the node; a row goes once they have.
    CREATE TABLE calendar_news (
      id INTEGER PRIMARY KEY,
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      text TEXT NOT NULL,
      noted_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX calendar_news_of_job ON calendar_news (job_id);

    -- The pool that the job names; null: any that lets it in.
    ALTER TABLE jobs ADD COLUMN pool TEXT;
  `,
};
