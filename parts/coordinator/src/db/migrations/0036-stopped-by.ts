import type { Migration } from "@resontech/frame/migrate";

/** Who cancelled a job. Null where nobody did, the operator did, or an older program took the request. */
export const stoppedBy: Migration = {
  version: 36,
  name: "stopped_by",
  sql: "ALTER TABLE jobs ADD COLUMN stopped_by TEXT REFERENCES users (id);",
};
