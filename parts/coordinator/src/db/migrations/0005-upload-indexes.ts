import type { Migration } from "@resontech/frame/migrate";

/**
 * A call about one upload reads no others: a long job stores thousands of log chunks. Chunks of members that are over, whose completion nobody can ask
 * for again, go; what a row is deleted from looks for its children by an index (`attempts_resumed`).
 */
export const uploadIndexes: Migration = {
  version: 5,
  name: "upload-indexes",
  sql: `
    DROP INDEX uploads_open;
    CREATE INDEX uploads_of_member ON uploads (member_id, state, is_log);
    CREATE INDEX uploads_unfinished ON uploads (bucket, key) WHERE state IN ('OPEN', 'COMPLETING');
    CREATE INDEX attempts_resumed ON attempts (resumed_from) WHERE resumed_from IS NOT NULL;
    DELETE FROM uploads WHERE is_log = 1 AND state = 'COMPLETED'
      AND member_id IN (SELECT id FROM members WHERE state IN ('RELEASED', 'QUARANTINED'));
  `,
};
