import type { Migration } from "@resontech/frame/migrate";

/** Members that are over, whose parts of a log are to become one. */
export const logMerges: Migration = {
  version: 34,
  name: "log_merges",
  sql: `
    CREATE TABLE log_merges (
      member_id TEXT PRIMARY KEY REFERENCES members (id) ON DELETE CASCADE,
      attempts INTEGER NOT NULL DEFAULT 0,
      not_before INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX log_merges_due ON log_merges (not_before);

    -- Those of earlier releases. The first part's number is 0.
    INSERT INTO log_merges (member_id, not_before)
      SELECT DISTINCT member_id, 0 FROM uploads JOIN members ON members.id = member_id
      WHERE is_log = 1 AND uploads.key NOT LIKE '%/00000000' AND members.state IN ('RELEASED', 'QUARANTINED');
  `,
};
