import type { Migration } from "@resontech/frame/migrate";

/** When the operator disabled a user: the user's keys are refused from then on. */
export const userAccess: Migration = {
  version: 7,
  name: "user-access",
  sql: "ALTER TABLE users ADD COLUMN disabled_at INTEGER;",
};
