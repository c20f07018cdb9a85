import type { Migration } from "@resontech/frame/migrate";

/** Which jobs are points of one array. An older release leaves these rows alone: jobs that are held for room in their array stay held until a release that knows them starts. */
export const arrays: Migration = {
  version: 45,
  name: "arrays",
  sql: `
    CREATE TABLE arrays (
      id TEXT PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id),
      user_id TEXT NOT NULL REFERENCES users (id),
      name TEXT NOT NULL,
      -- So many of its jobs may be queued or run at once; null: all.
      at_once INTEGER CHECK (at_once > 0),
      created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX arrays_of_project ON arrays (project_id, created_at);

    CREATE TABLE array_points (
      array_id TEXT NOT NULL REFERENCES arrays (id) ON DELETE CASCADE,
      point INTEGER NOT NULL,
      -- Its row may go before the array's.
      job_id TEXT NOT NULL UNIQUE,
      -- JSON: values by the names of parameters.
      parameters TEXT NOT NULL,
      PRIMARY KEY (array_id, point)
    ) STRICT, WITHOUT ROWID;
  `,
};
