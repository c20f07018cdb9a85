import type { Migration } from "@resontech/frame/migrate";

/**
 * The image belongs to the member, not to the job: its worker's vendor, architecture and driver decide. `jobs.image` stays what an older program
 * runs all members of a job with.
 */
export const memberImages: Migration = {
  version: 11,
  name: "member-images",
  sql: `
    ALTER TABLE jobs ADD COLUMN images TEXT;
    ALTER TABLE members ADD COLUMN image TEXT;
    ALTER TABLE workers ADD COLUMN architecture TEXT;
    ALTER TABLE workers ADD COLUMN driver TEXT;
  `,
};
