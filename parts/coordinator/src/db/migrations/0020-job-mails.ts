import type { Migration } from "@resontech/frame/migrate";

/** Who wants a mail when a job ends. Addresses are not kept: Keycloak is asked when a mail is due. */
export const jobMails: Migration = {
  version: 20,
  name: "job-mails",
  sql: `
    CREATE TABLE job_mails (
      user_id TEXT NOT NULL REFERENCES users (id),
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      tries INTEGER NOT NULL DEFAULT 0,
      -- Not tried before.
      due_at INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (user_id, job_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX job_mails_by_job ON job_mails (job_id);

    CREATE TABLE job_mails_of_all (
      user_id TEXT PRIMARY KEY REFERENCES users (id),
      -- The user's jobs that ended until then are done with.
      since INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
};
