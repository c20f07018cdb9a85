/** Passwords for the registry's token realm, in memory: one that a restart forgets is simply asked for again. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { ApiError } from "../api-error.ts";
import type { EventDetail } from "@resontech/contracts/audit-catalogue";

export type PullGrant = {
  /** Without registry and digest: `resontech/fl-cpu`. */
  repository: string;
  username: string;
  /** Node and lease that it was issued for, as the audit log names them; the operator's has neither. */
  audit: EventDetail<"key.registry.token">;
};

const LIFE_MS = 5 * 60_000;
const MAX_OPEN = 10_000;

export class RegistryPasswords {
  readonly #open = new Map<
    string,
    { grant: PullGrant; hash: Buffer; expiresAt: number; isReusable: boolean }
  >();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Good for one token within five minutes, or with `forS` for any number within so many seconds. */
  issue(
    repository: string,
    audit: PullGrant["audit"],
    forS?: number,
  ): { username: string; password: string } {
    const now = this.#now();
    for (const [username, { expiresAt }] of this.#open)
      if (expiresAt <= now) this.#open.delete(username);
    if (this.#open.size >= MAX_OPEN)
      throw new ApiError("overloaded", `more than ${MAX_OPEN} pull passwords are unused`);
    const username = `pull-${randomBytes(9).toString("hex")}`;
    const password = randomBytes(32).toString("base64url");
    this.#open.set(username, {
      grant: { repository, username, audit },
      hash: hashOf(password),
      expiresAt: now + (forS === undefined ? LIFE_MS : forS * 1000),
      isReusable: forS !== undefined,
    });
    return { username, password };
  }

  /**
   * Null unless it is the right password, in time, and for the first time where it is good for one.
   * @param spend what it is good for; where that throws nothing was had for the password, and it stays good
   */
  async use<T>(
    username: string,
    password: string,
    spend: (grant: PullGrant) => Promise<T>,
  ): Promise<T | null> {
    const open = this.#open.get(username);
    if (
      open === undefined ||
      open.expiresAt <= this.#now() ||
      !timingSafeEqual(open.hash, hashOf(password))
    )
      return null;
    if (!open.isReusable) this.#open.delete(username);
    try {
      return await spend(open.grant);
    } catch (error) {
      this.#open.set(username, open);
      throw error;
    }
  }
}

function hashOf(password: string): Buffer {
  return createHash("sha256").update(password, "utf8").digest();
}
