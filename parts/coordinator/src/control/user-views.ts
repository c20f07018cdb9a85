/** What the operator is shown of users and their keys. */
import type { KeyFacts } from "@resontech/contracts/operator-keys";
import type { UserFacts } from "@resontech/contracts/operator-users";
import { TERMINAL_JOB_STATES } from "@resontech/contracts/job-states";
import { ApiError } from "../api-error.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { instant } from "../http/decisions/job-replies.ts";

type KeyRow = {
  id: string;
  username: string;
  name: string;
  prefix: string;
  last4: string;
  expires_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
};
type UserRow = {
  id: string;
  username: string;
  holds_admin: number;
  disabled_at: number | null;
  created_at: number;
  bucket: string | null;
  quota_bytes: number | null;
  living_keys: number;
  living_jobs: number;
};

const OVER = TERMINAL_JOB_STATES.map((state) => `'${state}'`).join(", ");
const KEYS = `SELECT k.id, u.username, k.name, k.prefix, k.last4, k.expires_at, k.last_used_at, k.revoked_at
  FROM platform_keys k JOIN users u ON u.id = k.user_id`;
const USERS = `SELECT u.id, u.username, u.disabled_at, u.created_at, b.name AS bucket, b.quota_bytes,
    (SELECT count(*) FROM platform_keys k WHERE k.user_id = u.id AND k.revoked_at IS NULL AND k.expires_at > @now) AS living_keys,
    (SELECT count(*) FROM jobs j WHERE j.user_id = u.id AND j.state NOT IN (${OVER})) AS living_jobs,
    EXISTS (SELECT 1 FROM role_holders h WHERE h.user_id = u.id AND h.role = 'platform-admin') AS holds_admin
  FROM users u LEFT JOIN projects p ON p.owner_id = u.id AND p.is_default = 1 LEFT JOIN buckets b ON b.project_id = p.id
  WHERE u.kind = 'person'`;

export class UserViews {
  readonly #db: ReadHandle;
  readonly #now: () => number;

  constructor(db: ReadHandle, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  list(): UserFacts[] {
    const rows = this.#db
      .prepare<{ now: number }, UserRow>(`${USERS} ORDER BY u.username`)
      .all({ now: this.#now() });
    return rows.map(userFacts);
  }

  /** @throws ApiError not_found */
  of(username: string): UserFacts {
    const row = this.#db
      .prepare<{ now: number; username: string }, UserRow>(`${USERS} AND u.username = @username`)
      .get({ now: this.#now(), username });
    if (row === undefined) throw new ApiError("not_found", `there is no user ${username}`);
    return userFacts(row);
  }

  /** @param username null for the keys of all @throws ApiError not_found for a user that is not there */
  keys(username: string | null): KeyFacts[] {
    if (username !== null) this.of(username);
    const where = username === null ? "" : "WHERE u.username = @username";
    const rows = this.#db
      .prepare<{ username?: string }, KeyRow>(
        `${KEYS} ${where} ORDER BY u.username, k.created_at, k.id`,
      )
      .all(username === null ? {} : { username });
    return rows.map((row) => this.#key(row));
  }

  #key(row: KeyRow): KeyFacts {
    const isOver = row.expires_at <= this.#now();
    return {
      ...{ key: row.id, username: row.username, name: row.name },
      handle: `${row.prefix}…${row.last4}`,
      state: row.revoked_at !== null ? "revoked" : isOver ? "expired" : "living",
      expiresAt: instant(row.expires_at),
      lastUsedAt: row.last_used_at === null ? null : instant(row.last_used_at),
    };
  }
}

function userFacts(row: UserRow): UserFacts {
  return {
    ...{ userId: row.id, username: row.username },
    ...{ isAdmin: row.holds_admin === 1, isDisabled: row.disabled_at !== null },
    ...{ bucket: row.bucket, quotaBytes: row.quota_bytes },
    ...{ livingKeys: row.living_keys, livingJobs: row.living_jobs },
    createdAt: instant(row.created_at),
  };
}
