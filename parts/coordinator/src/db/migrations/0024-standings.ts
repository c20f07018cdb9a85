import type { Migration } from "@resontech/frame/migrate";

/** What is wished of a replica beside running, and how it says that it stands. A member that is none keeps the defaults. */
export const standings: Migration = {
  version: 24,
  name: "standings",
  sql: `
    ALTER TABLE members ADD COLUMN wish_order INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE members ADD COLUMN wishes_sleep INTEGER NOT NULL DEFAULT 0 CHECK (wishes_sleep IN (0, 1));
    ALTER TABLE members ADD COLUMN standing TEXT NOT NULL DEFAULT 'well';
    -- Of the wish that the standing follows.
    ALTER TABLE members ADD COLUMN standing_order INTEGER NOT NULL DEFAULT 0;
  `,
};
