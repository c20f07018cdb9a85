import type { Migration } from "@resontech/frame/migrate";

/**
 * A member may hold several workers: a lease each, and the first in its own row too. A release that knows the first alone quarantines that one where
 * nothing is proven of any; the trigger takes the others with it, before their leases end.
 */
export const membersOfSeveralWorkers: Migration = {
  version: 40,
  name: "members_of_several_workers",
  sql: `
    CREATE TRIGGER workers_are_quarantined_together AFTER UPDATE OF is_quarantined ON workers
      WHEN NEW.is_quarantined = 1 AND OLD.is_quarantined = 0 AND NEW.quarantine_reason IN ('release_timeout', 'devices_not_free')
      BEGIN
        UPDATE workers SET is_quarantined = 1, quarantine_reason = NEW.quarantine_reason
          WHERE is_quarantined = 0 AND id IN (
            SELECT other.worker_id FROM leases own JOIN leases other ON other.member_id = own.member_id
            WHERE own.worker_id = NEW.id AND own.released_at IS NULL AND other.released_at IS NULL);
      END;
  `,
};
