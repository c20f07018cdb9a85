/**
 * Looks after the accounts of all people: who is gone or disabled where the account is kept is out, with sessions and keys; groups are read as well, for
 * those who use keys alone. A directory that does not answer removes nobody.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { RecordEvent } from "../audit-ports.ts";
import { COORDINATOR_ACTOR } from "../authorization/in-the-log.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle } from "../db/open-database.ts";
import type { KeycloakAccounts } from "./accounts/keycloak-accounts.ts";
import { noteLeft, peopleToLookAfter } from "./people-store.ts";
import type { Sessions } from "./sign-in/sessions.ts";
import { groupNames } from "./decisions/group-names.ts";
import { areGroupsNoted, noteGroups } from "./directories/group-store.ts";
import type { RequestRole } from "./directories/request-role.ts";

/** With the minute for which Keycloak believes what it read, a leaver is out in three. */
export const LOOK_MS = 60_000;

export type LeaversDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  record: RecordEvent;
  accounts: Pick<KeycloakAccounts, "lookAt">;
  sessions: Pick<Sessions, "endAll">;
  requestRole: RequestRole;
  now: () => number;
};

export class Leavers implements AsyncDisposable {
  readonly #deps: LeaversDeps;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(deps: LeaversDeps, onError: (error: unknown) => void) {
    this.#deps = deps;
    this.#running = this.#run(onError);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(onError: (error: unknown) => void): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await lookAtAll(this.#deps, signal).catch(onError);
      await pause(LOOK_MS, undefined, { signal }).catch(() => {});
    }
  }
}

/** One round. @throws KeycloakUnreachableError, which leaves the rest for the next one */
export async function lookAtAll(deps: LeaversDeps, signal?: AbortSignal): Promise<void> {
  const { read, commit, accounts, sessions, requestRole, record, now } = deps;
  for (const { userId, subject, source } of peopleToLookAfter(read)) {
    if (signal?.aborted === true) return;
    const { standing, groups } = await accounts.lookAt(subject, source);
    if (standing === "unknown") continue;
    if (standing === "there") {
      // What a provider named at a sign-in stands until the next one.
      if (source?.kind !== "storage") continue;
      const names = groupNames(source, { paths: groups, named: null });
      if (areGroupsNoted(read, userId, names)) continue;
      await commit.run((db) => {
        for (const role of noteGroups(db, userId, names)) requestRole(db, userId, role);
      });
      continue;
    }
    await commit.run((db) => {
      if (!noteLeft(db, userId, now())) return;
      noteGroups(db, userId, []);
      record(db, {
        ...{ type: "iam.user.left", phase: "fact", op: randomUUID(), actor: COORDINATOR_ACTOR },
        ...{ object: { kind: "user", id: userId }, detail: {} },
      });
    });
    await sessions.endAll({ userId }, "removed");
  }
}
