import type { Migration } from "@resontech/frame/migrate";

/**
 * What a node was told of a member when it first heard of it. A release that does not know the kind of the job, as after a rollback, tells it again as it
 * stands; it could not make it anew.
 */
export const toldMembers: Migration = {
  version: 29,
  name: "told-members",
  sql: "ALTER TABLE members ADD COLUMN told TEXT",
};
