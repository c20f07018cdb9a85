import type { Migration } from "@resontech/frame/migrate";

/** How a member's container ended. Null where it still runs, was told to end, or an older agent says nothing of it. */
export const exitCodes: Migration = {
  version: 35,
  name: "exit_codes",
  sql: "ALTER TABLE members ADD COLUMN exit_code INTEGER CHECK (exit_code BETWEEN 0 AND 255);",
};
