import type { Migration } from "@resontech/frame/migrate";

/** Which jobs wait for which, and which repeat by a calendar. An older release leaves these rows alone: what it ends meanwhile is followed up by the next start of a release that knows them. */
export const orderOfJobs: Migration = {
  version: 38,
  name: "order_of_jobs",
  sql: `
    CREATE TABLE job_order (
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      -- Older than job_id, so there are no circles. Its row may go first.
      after_job TEXT NOT NULL,
      until TEXT NOT NULL CHECK (until IN ('succeeded', 'ended')),
      -- The state that it ended in; null while it is waited for.
      ended_as TEXT,
      PRIMARY KEY (job_id, after_job)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX job_order_by_awaited ON job_order (after_job);
    -- Place in line of a job that was held for others: as sequence, from its release. Null of any other.
    ALTER TABLE jobs ADD COLUMN line INTEGER;

    CREATE TABLE schedules (
      id TEXT PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id),
      -- By whose rights each run is submitted.
      user_id TEXT NOT NULL REFERENCES users (id),
      -- The platform key that made it; null where a person did. It does no more than the key may.
      key_id TEXT,
      name TEXT NOT NULL,
      cron TEXT NOT NULL,
      time_zone TEXT NOT NULL,
      -- The body of a submission, JSON, or the job whose versions are submitted again.
      task TEXT,
      job_id TEXT,
      -- A time of the calendar, so no step of the clock moves it. Null while the schedule rests.
      next_at INTEGER,
      paused_by TEXT,
      created_at INTEGER NOT NULL,
      CHECK ((task IS NULL) <> (job_id IS NULL))
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX schedules_due ON schedules (next_at) WHERE next_at IS NOT NULL;
    CREATE INDEX schedules_of_project ON schedules (project_id);

    CREATE TABLE schedule_runs (
      schedule_id TEXT NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
      due_at INTEGER NOT NULL,
      outcome TEXT NOT NULL CHECK (outcome IN ('submitted', 'skipped', 'refused')),
      code TEXT,
      job_id TEXT,
      PRIMARY KEY (schedule_id, due_at)
    ) STRICT, WITHOUT ROWID;
  `,
};
