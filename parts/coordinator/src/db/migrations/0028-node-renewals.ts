import type { Migration } from "@resontech/frame/migrate";

/**
 * A node's next certificate, which counts for the one that it is to take the place of: an older program that lets the node join again notes another one,
 * and does not know of these columns.
 */
export const nodeRenewals: Migration = {
  version: 28,
  name: "node-renewals",
  sql: `
    ALTER TABLE nodes ADD COLUMN next_certificate_sha256 TEXT;
    ALTER TABLE nodes ADD COLUMN next_certificate_after TEXT;
  `,
};
