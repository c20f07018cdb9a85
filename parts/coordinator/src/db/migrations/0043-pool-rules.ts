import type { Migration } from "@resontech/frame/migrate";

/** What a pool's projects may hold there, and what its workers are expected to show. A release before knows neither rule, and places without them. */
export const poolRules: Migration = {
  version: 43,
  name: "pool-rules",
  sql: `
    -- The most workers that one project may hold there at a time; null: any number.
    ALTER TABLE pools ADD COLUMN project_workers INTEGER CHECK (project_workers > 0);
    -- JSON: models, or parts of devices, that its workers are to be; null: any.
    ALTER TABLE pools ADD COLUMN worker_models TEXT;
  `,
};
