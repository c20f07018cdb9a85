import type { Migration } from "@resontech/frame/migrate";

/**
 * Who may hold how much, who made way for whom, and who held which worker when. Intervals outlive their job; triggers write them, so that what an older
 * release leases stands there too.
 */
export const shares: Migration = {
  version: 37,
  name: "shares",
  sql: `
    CREATE TABLE shares (
      -- Of an organisation, a team or a project.
      id TEXT PRIMARY KEY,
      -- Workers by model, JSON.
      guarantee TEXT NOT NULL DEFAULT '{}',
      -- As guarantee; a model that is absent has no limit.
      limits TEXT NOT NULL DEFAULT '{}',
      weight REAL NOT NULL DEFAULT 1 CHECK (weight > 0),
      changed_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- Each decision, written before anybody is asked to go.
    CREATE TABLE preemptions (
      id INTEGER PRIMARY KEY,
      job_id TEXT NOT NULL,
      reason TEXT NOT NULL CHECK (reason IN ('guarantee', 'class')),
      victim_job TEXT NOT NULL,
      victim_attempt TEXT NOT NULL,
      -- Ids of those that are kept for the job, JSON.
      workers TEXT NOT NULL,
      decided_at INTEGER NOT NULL,
      kept_until INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX preemptions_of_victim ON preemptions (victim_job, decided_at);
    CREATE INDEX preemptions_kept ON preemptions (kept_until);

    -- Time in RUNNING over all attempts so far, without the present one.
    ALTER TABLE jobs ADD COLUMN ran_ms INTEGER NOT NULL DEFAULT 0;

    CREATE TABLE holdings (
      id INTEGER PRIMARY KEY,
      lease_id INTEGER,
      worker_id TEXT NOT NULL,
      node_id TEXT NOT NULL,
      model TEXT NOT NULL,
      job_id TEXT NOT NULL,
      project_id TEXT NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id),
      member_id TEXT NOT NULL,
      generation INTEGER NOT NULL,
      counter INTEGER NOT NULL,
      held_from INTEGER NOT NULL,
      used_from INTEGER,
      used_until INTEGER,
      -- Null while it is held.
      held_until INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX holdings_of_lease ON holdings (lease_id);
    CREATE INDEX holdings_by_end ON holdings (held_until);
    INSERT INTO holdings (lease_id, worker_id, node_id, model, job_id, project_id, user_id, member_id, generation, counter, held_from, used_from,
        used_until, held_until)
      SELECT l.id, l.worker_id, w.node_id, w.model, l.job_id, j.project_id, j.user_id, l.member_id, l.generation, l.counter, l.acquired_at, l.used_from,
        l.used_until, l.released_at
      FROM leases l JOIN workers w ON w.id = l.worker_id JOIN jobs j ON j.id = l.job_id;
    CREATE TRIGGER leases_are_held AFTER INSERT ON leases
      BEGIN
        INSERT INTO holdings (lease_id, worker_id, node_id, model, job_id, project_id, user_id, member_id, generation, counter, held_from)
          SELECT NEW.id, NEW.worker_id, w.node_id, w.model, NEW.job_id, j.project_id, j.user_id, NEW.member_id, NEW.generation, NEW.counter, NEW.acquired_at
          FROM workers w JOIN jobs j ON j.id = NEW.job_id WHERE w.id = NEW.worker_id;
      END;
    CREATE TRIGGER leases_are_used AFTER UPDATE OF acquired_at, used_from, used_until, released_at ON leases
      BEGIN
        UPDATE holdings SET held_from = NEW.acquired_at, used_from = NEW.used_from, used_until = NEW.used_until, held_until = NEW.released_at
          WHERE lease_id = NEW.id;
      END;
    -- An id may be given out again: what is kept must not be taken for the new one's.
    CREATE TRIGGER leases_are_gone BEFORE DELETE ON leases
      BEGIN UPDATE holdings SET lease_id = NULL, held_until = coalesce(held_until, OLD.released_at, OLD.acquired_at) WHERE lease_id = OLD.id; END;
  `,
};
