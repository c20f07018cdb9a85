import type { Migration } from "@resontech/frame/migrate";

/** How much a pool's nodes keep of inputs, and what a member had of that. A release before keeps nothing: its agents are told of no cache. */
export const inputCache: Migration = {
  version: 44,
  name: "input-cache",
  sql: `
    -- The most that each of its nodes keeps of inputs between members; null: nothing.
    ALTER TABLE pools ADD COLUMN cache_bytes INTEGER CHECK (cache_bytes > 0);
    -- Bytes of its inputs that its node had kept; null where the node keeps none for it, or has not told.
    ALTER TABLE members ADD COLUMN cached_bytes INTEGER CHECK (cached_bytes >= 0);
  `,
};
