import type { Migration } from "@resontech/frame/migrate";

/** Which rights the bucket's policy was last given, as a digest of them; null for a bucket of an older program. */
export const bucketRights: Migration = {
  version: 8,
  name: "bucket-rights",
  sql: "ALTER TABLE buckets ADD COLUMN rights TEXT;",
};
