/** Service accounts: made at Keycloak and here, known by their tokens, ended here first. */
import { randomBytes, randomUUID } from "node:crypto";
import {
  type PublicKey,
  SERVICE_ACCOUNT_CLIENT_PREFIX,
  SERVICE_ACCOUNT_DAYS,
  type ServiceAccountScope,
} from "@resontech/contracts/http-service-accounts";
import { ApiError } from "../../api-error.ts";
import type { RecordEvent } from "../../audit-ports.ts";
import type { ServiceAccountCaller } from "../../authorization/caller.ts";
import { COORDINATOR_ACTOR } from "../../authorization/in-the-log.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle, WriteHandle } from "../../db/open-database.ts";
import type { ServiceClients } from "../accounts/service-clients.ts";
import { maySeeData } from "../data-rights.ts";
import { findPersonById, heldBy } from "../people-store.ts";
import type { Seal } from "../seal.ts";
import { type AccountKey, accountKey } from "./decisions/account-key.ts";
import { accountStanding, nextOfAccount } from "./decisions/account-standing.ts";
import {
  accountsToRemove,
  findAccountOfClient,
  insertAccount,
  isKnownClient,
  livingAccounts,
  noteAdopted,
  noteOrphaned,
  noteRemoved,
  noteRevoked,
  requireRoom,
  type ServiceAccount,
} from "./service-account-store.ts";

const REGISTRATION = "client-registration";
const DAY_MS = 86_400_000;
/** Clients that nobody knows are looked for so often. */
const LOOK_MS = 3_600_000;

export type ServiceAccountsDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  clients: ServiceClients;
  seal: Seal;
  record: RecordEvent;
  /** Unix milliseconds. */
  now: () => number;
};

export type AccountRequest = {
  projectId: string;
  name: string;
  scopes: readonly ServiceAccountScope[];
  publicKey: PublicKey;
  createdBy: string;
};
/** Before anything is made, so that the log names it first. */
export type PlannedAccount = AccountRequest & {
  id: string;
  clientId: string;
  key: AccountKey;
  createdAt: number;
  expiresAt: number;
};

/** What an access token says of a client that shows a key of its own. */
export type ServiceAccountClaims = { clientId: string; subject: string };

export class ServiceAccounts {
  readonly #deps: ServiceAccountsDeps;
  /** Registered at Keycloak, and not in the table yet. */
  readonly #making = new Set<string>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: ServiceAccountsDeps) {
    this.#deps = deps;
  }

  /** @throws ApiError too_many_service_accounts, service_account_key_invalid */
  plan(wish: AccountRequest): PlannedAccount {
    const { read, now } = this.#deps;
    const createdAt = now();
    requireRoom(read, wish.projectId, createdAt);
    const id = `sa_${randomBytes(12).toString("hex")}`;
    const clientId = `${SERVICE_ACCOUNT_CLIENT_PREFIX}${id}`;
    return {
      ...{ ...wish, id, clientId, createdAt },
      key: accountKey(wish.publicKey, clientId),
      expiresAt: createdAt + SERVICE_ACCOUNT_DAYS * DAY_MS,
    };
  }

  /**
   * At Keycloak first: a kill between leaves a client there whose tokens nobody takes, and whose user the next look disables.
   * @param settled joins the transaction
   */
  async create(planned: PlannedAccount, settled: (db: WriteHandle) => void): Promise<void> {
    const { commit, clients, seal } = this.#deps;
    const { key, publicKey: _publicKey, ...account } = planned;
    const { clientId } = account;
    this.#making.add(clientId);
    try {
      const { subject, registration } = await clients.register(clientId, key.jwk);
      try {
        await commit.run((db) => {
          insertAccount(db, {
            ...{ ...account, subject, thumbprint: key.thumbprint },
            registration: seal.seal(REGISTRATION, registration),
          });
          settled(db);
        });
      } catch (error) {
        await clients.remove(clientId, registration);
        throw error;
      }
    } finally {
      this.#making.delete(clientId);
    }
  }

  /** Refused from the transaction on; Keycloak forgets the client afterwards. @param settled joins the transaction */
  async revoke(id: string, settled: (db: WriteHandle) => void): Promise<void> {
    const { commit, now } = this.#deps;
    await commit.run((db) => {
      noteRevoked(db, id, now());
      settled(db);
    });
  }

  /**
   * This person answers for the account from then on. Asked by a lead for the own name alone.
   * @param settled joins the transaction
   * @throws ApiError role_conflict for whom a duty leaves no data
   */
  async adopt(
    { id, projectId }: Pick<ServiceAccount, "id" | "projectId">,
    userId: string,
    settled: (db: WriteHandle) => void,
  ): Promise<void> {
    await this.#deps.commit.run((db) => {
      if (!maySeeData(db, { userId, projectId }))
        throw new ApiError("role_conflict", "who answers for a program may see what it sees");
      noteAdopted(db, id, userId);
      settled(db);
    });
  }

  /** Finds accounts that nobody answers for any more, and ends those that nobody adopted in time. */
  async look(): Promise<void> {
    const { read, commit, now, record } = this.#deps;
    const at = now();
    const found = livingAccounts(read, at).flatMap((account) => {
      const next = nextOfAccount({ ...account, isAnswered: isAnswered(read, account) }, at);
      return next === null ? [] : [{ account, next }];
    });
    if (found.length === 0) return;
    await commit.run((db) => {
      for (const { account, next } of found) {
        const { id, projectId } = account;
        if (next === "end") noteRevoked(db, id, at);
        else noteOrphaned(db, id, next === "orphan" ? at : null);
        if (next === "return") continue;
        record(db, {
          type: next === "end" ? "iam.service-account.end" : "iam.service-account.orphan",
          ...{ phase: "fact", op: randomUUID(), actor: COORDINATOR_ACTOR },
          ...{ object: { kind: "user", id }, detail: { project: projectId } },
        });
      }
    });
  }

  /** Who sends such a token: `over` for one that was revoked or has expired, null for one that is none of ours. */
  callerOf(claims: ServiceAccountClaims): ServiceAccountCaller | "over" | null {
    const { read, now } = this.#deps;
    const account = findAccountOfClient(read, claims);
    if (account === null) return null;
    if (accountStanding(account, now()) === "over") return "over";
    const { id: userId, projectId, clientId, scopes, answeredBy } = account;
    const holds = heldBy(read, answeredBy.id);
    return { kind: "service-account", userId, projectId, clientId, scopes, holds };
  }

  /** Takes clients of accounts that are over from Keycloak, and tokens from those that a kill left behind. */
  async sweep(): Promise<void> {
    await this.look();
    const { read, commit, clients, seal, now } = this.#deps;
    for (const { id, clientId, registration } of accountsToRemove(read, now())) {
      await clients.remove(clientId, seal.open(REGISTRATION, registration) as string | null);
      await commit.run((db) => noteRemoved(db, id, now()));
    }
    const since = now() - this.#lookedAt;
    // A clock that was set back puts no look off.
    if (since >= 0 && since < LOOK_MS) return;
    for (const clientId of await clients.list())
      if (!this.#making.has(clientId) && !isKnownClient(read, clientId))
        await clients.disable(clientId);
    this.#lookedAt = now();
  }
}

/** Whoever answers for a program is here and may see what it sees. */
function isAnswered(
  read: ReadHandle,
  { answeredBy, projectId }: Pick<ServiceAccount, "answeredBy" | "projectId">,
): boolean {
  const person = findPersonById(read, answeredBy.id);
  if (person === null || person.isDisabled || person.hasLeft) return false;
  return maySeeData(read, { userId: person.userId, projectId });
}
