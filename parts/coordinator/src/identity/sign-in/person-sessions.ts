/** The sessions of one person: browsers, which have rows here, and shells, which Keycloak alone knows. */
import type { UserCaller } from "../../authorization/caller.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import type { AccountSession, KeycloakAccounts } from "../accounts/keycloak-accounts.ts";
import { subjectOf } from "../people-store.ts";
import { CLI_CLIENT } from "./open-id-provider.ts";
import { sessionsOfUser } from "./session-store.ts";
import type { Sessions } from "./sessions.ts";

/** @property id Keycloak's @property rowIds of the browsers that share it, as callers name theirs. Instants in Unix milliseconds. */
export type KnownSession = {
  id: string;
  rowIds: string[];
  kind: "browser" | "shell" | "other";
  startedAt: number;
  lastSeenAt: number;
};

export type PersonSessionsDeps = {
  read: ReadHandle;
  sessions: Pick<Sessions, "endOne" | "idleMs">;
  accounts: Pick<KeycloakAccounts, "sessionsOf" | "endSession">;
  now: () => number;
};

export class PersonSessions {
  readonly #deps: PersonSessionsDeps;

  constructor(deps: PersonSessionsDeps) {
    this.#deps = deps;
  }

  /** The newest first. Not complete while Keycloak does not answer. */
  async list(userId: string): Promise<{ sessions: KnownSession[]; isComplete: boolean }> {
    const there = await this.#atKeycloak(userId).catch((error: unknown) => {
      if (!isUnreachable(error)) throw error;
      return null;
    });
    const known = new Map<string, KnownSession>();
    for (const { sid, clients, ...session } of there ?? [])
      known.set(sid, {
        ...{ ...session, id: sid, rowIds: [] },
        kind: clients.includes(CLI_CLIENT) ? "shell" : "other",
      });
    for (const { id, sid, beganAt, activeAt } of this.#rows(userId)) {
      const same = known.get(sid);
      known.set(sid, {
        ...{ id: sid, kind: "browser", rowIds: [...(same?.rowIds ?? []), id] },
        startedAt: Math.min(beganAt, same?.startedAt ?? beganAt),
        lastSeenAt: Math.max(activeAt, same?.lastSeenAt ?? activeAt),
      });
    }
    const sessions = [...known.values()].sort((a, b) => b.startedAt - a.startedAt);
    return { sessions, isComplete: there !== null };
  }

  /**
   * Here first: its cookie and its tokens are refused from then on. False for what is no session of this person.
   * @throws KeycloakUnreachableError where its session lives on at Keycloak; to be asked again
   */
  async end(userId: string, sid: string, by: UserCaller): Promise<boolean> {
    const { sessions, accounts } = this.#deps;
    const { sessions: known, isComplete } = await this.list(userId);
    if (!known.some(({ id }) => id === sid)) {
      if (!isComplete) await this.#atKeycloak(userId);
      return false;
    }
    await sessions.endOne({ userId, sid }, by);
    await accounts.endSession(sid);
    return true;
  }

  async #atKeycloak(userId: string): Promise<AccountSession[]> {
    const { read, accounts } = this.#deps;
    const subject = subjectOf(read, userId);
    if (subject === null) return [];
    return await accounts.sessionsOf(subject);
  }

  #rows(userId: string) {
    const { read, now, sessions } = this.#deps;
    const at = now();
    return sessionsOfUser(read, userId, { idleBefore: at - sessions.idleMs, now: at });
  }
}

function isUnreachable(error: unknown): boolean {
  return error instanceof Error && error.name === "KeycloakUnreachableError";
}
