import type { Migration } from "@resontech/frame/migrate";

/** Who answers for a service account, and since when nobody does who could: then a lead adopts it, or it ends. */
export const answerable: Migration = {
  version: 31,
  name: "answerable",
  sql: `
    -- Null of an account that a release before made: who made it answers for it.
    ALTER TABLE service_accounts ADD COLUMN answerable_id TEXT REFERENCES users (id);
    ALTER TABLE service_accounts ADD COLUMN orphaned_at INTEGER;
  `,
};
