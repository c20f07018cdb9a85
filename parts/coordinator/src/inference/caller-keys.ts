/** Platform keys that may call deployments, for the gateway: looked up anew at most so often, for its word is asked for many times a second. */
import { type CallerKey, MAX_CALLER_KEYS } from "@resontech/contracts/inference-routes";
import type { ReadHandle } from "../db/open-database.ts";
import { maySeeData } from "../identity/data-rights.ts";
import { UNSEEN_MS } from "../identity/decisions/unseen.ts";

/** A revoked key is good for so long, and for what the gateway takes to hear of it. */
const LOOK_MS = 500;

type Row = CallerKey & { userId: string; hasDuty: number };

export class CallerKeys {
  readonly #read: ReadHandle;
  readonly #select;
  #keys: CallerKey[] = [];
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(read: ReadHandle) {
    this.#read = read;
    // As key-store.ts judges a key that a request shows: a user who was disabled, left or is long unseen has none.
    this.#select = read.prepare<[number, number], Row>(
      `SELECT k.id, lower(hex(k.hash)) AS sha256, k.project_id AS project, k.expires_at AS expiresAt, k.user_id AS userId,
         EXISTS (SELECT 1 FROM role_holders h WHERE h.user_id = k.user_id) AS hasDuty
       FROM platform_keys k JOIN users u ON u.id = k.user_id
       JOIN project_members m ON m.project_id = k.project_id AND m.user_id = k.user_id
       WHERE k.revoked_at IS NULL AND k.expires_at > ? AND u.disabled_at IS NULL AND u.left_at IS NULL
         AND (u.source_kind IS NOT 'broker' OR coalesce(u.signed_in_at, 0) > ?)
         AND EXISTS (SELECT 1 FROM json_each(k.scopes) WHERE value = 'infer')
       ORDER BY k.created_at DESC, k.id LIMIT ${MAX_CALLER_KEYS}`,
    );
  }

  /** @param now milliseconds since 1970 */
  all(now: number): CallerKey[] {
    if (Math.abs(now - this.#lookedAt) >= LOOK_MS) {
      this.#keys = this.#select
        .all(now, now - UNSEEN_MS)
        .filter((key) => this.#seesData(key))
        .map(({ userId: _userId, hasDuty: _hasDuty, ...key }) => key);
      this.#lookedAt = now;
    }
    return this.#keys;
  }

  /** The gateway asks no policy, and a model answers from data: a duty binds its person here, too. */
  #seesData({ userId, project: projectId, hasDuty }: Row): boolean {
    return hasDuty === 0 || maySeeData(this.#read, { userId, projectId });
  }
}
