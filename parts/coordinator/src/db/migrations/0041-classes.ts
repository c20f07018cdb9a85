import type { Migration } from "@resontech/frame/migrate";

/** Classes that jobs ask for, and limits that hold for each person. A release before gives such jobs the class of their kind, and knows no such limit. */
export const classes: Migration = {
  version: 41,
  name: "classes",
  sql: `
    -- As it was asked for; null: that of its kind.
    ALTER TABLE jobs ADD COLUMN job_class TEXT;
    -- As it was asked for; null: as others make way.
    ALTER TABLE jobs ADD COLUMN is_preemptible INTEGER CHECK (is_preemptible IN (0, 1));
    -- The most that one person may have below the share; null: any number.
    ALTER TABLE shares ADD COLUMN person_running INTEGER CHECK (person_running >= 0);
    ALTER TABLE shares ADD COLUMN person_queued INTEGER CHECK (person_queued >= 0);
    -- Whose workers are anybody's.
    CREATE INDEX members_asleep ON members (id) WHERE wishes_sleep = 1;
    -- An interactive job that uses nothing for so long is warned, then ended; null: as a share above says, or after an hour.
    ALTER TABLE shares ADD COLUMN interactive_idle_minutes INTEGER CHECK (interactive_idle_minutes > 0);
  `,
};
