import type { Migration } from "@resontech/frame/migrate";

/** Deployments whose place another one has taken: their addresses lead there. */
export const rollouts: Migration = {
  version: 25,
  name: "rollouts",
  sql: `
    ALTER TABLE deployments ADD COLUMN replaced_by TEXT REFERENCES jobs (id) ON DELETE SET NULL;
    CREATE INDEX replaced_deployments ON deployments (replaced_by) WHERE replaced_by IS NOT NULL;
  `,
};
