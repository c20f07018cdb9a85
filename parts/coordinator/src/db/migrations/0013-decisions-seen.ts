import type { Migration } from "@resontech/frame/migrate";

/** What was asked to be decided within the last week, each kind of question once: proposed policies are tried against it. */
export const decisionsSeen: Migration = {
  version: 13,
  name: "decisions-seen",
  sql: `
    CREATE TABLE decisions_seen (
      -- JSON; kinds of caller and row alone, never an id.
      question TEXT PRIMARY KEY,
      times INTEGER NOT NULL,
      last_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX decisions_seen_by_age ON decisions_seen (last_at);
  `,
};
