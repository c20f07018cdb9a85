import type { Migration } from "@resontech/frame/migrate";

/**
 * Who holds which role stands in `role_holders` alone; `users.is_admin` says the same for the release before. Administrators whom the host's root made
 * stand as a finding until a second person acknowledges it.
 */
export const onePerson: Migration = {
  version: 30,
  name: "one-person",
  sql: `
    -- Administrators who were added and never signed in had the column alone. A role that two people took stays taken.
    INSERT OR IGNORE INTO role_holders (user_id, role)
      SELECT u.id, 'platform-admin' FROM users u
      WHERE u.is_admin = 1 AND u.kind = 'person' AND u.signed_in_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM approvals a WHERE a.kind = 'role' AND a.state = 'approved' AND json_extract(a.what, '$.userId') = u.id
          AND json_extract(a.what, '$.role') = 'platform-admin' AND json_extract(a.what, '$.change') = 'revoke');
    UPDATE users SET is_admin =
      EXISTS (SELECT 1 FROM role_holders h WHERE h.user_id = users.id AND h.role = 'platform-admin');

    CREATE TABLE restored_administrators (
      user_id TEXT NOT NULL REFERENCES users (id),
      restored_at INTEGER NOT NULL,
      -- Everybody else who held a role of the whole appliance then.
      others TEXT NOT NULL CHECK (json_valid(others)),
      acknowledged_by TEXT REFERENCES users (id),
      acknowledged_at INTEGER,
      PRIMARY KEY (user_id, restored_at)
    ) STRICT, WITHOUT ROWID;
  `,
};
