/**
 * Who holds which duty changes here, one change at a time: each is checked, made at Keycloak, and checked again in the transaction that writes it. What the
 * second check refuses is taken back at Keycloak.
 */
import { Turns } from "@resontech/frame/turns";
import { ApiError } from "../api-error.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import type { AccountLinks } from "../identity/accounts/account-links.ts";
import type { BucketKeys } from "../identity/bucket-keys.ts";
import { isMemberBeyondOwn } from "../identity/project-store.ts";
import { findPersonById } from "../identity/people-store.ts";
import { noteRestored } from "../identity/restored-administrators.ts";
import { otherHoldersOf, rolesOf, setRoles } from "../identity/role-holders.ts";
import type { Sessions } from "../identity/sign-in/sessions.ts";
import {
  requireAllowed,
  requireAnotherAdministrator,
  requireRoleChange,
  type RoleChange,
  type RoleFacts,
  rolesAfter,
} from "./decisions/role-rules.ts";

export type RoleChangesDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  links: Pick<AccountLinks, "setRole">;
  sessions: Pick<Sessions, "endAllIn">;
  bucketKeys: Pick<BucketKeys, "review">;
  onError: (error: unknown, what: string) => void;
  /** Unix milliseconds. */
  now: () => number;
};
/**
 * @property settled joins the transaction of the change
 * @property isBegun an earlier life may have made it at Keycloak already, and a token may have brought it here since
 */
export type SettledChange = { settled: (db: WriteHandle) => void; isBegun: boolean };
type AnyHandle = Pick<WriteHandle, "prepare">;

export class RoleChanges {
  readonly #deps: RoleChangesDeps;
  readonly #turns = new Turns();

  constructor(deps: RoleChangesDeps) {
    this.#deps = deps;
  }

  /** Runs what changes who may do what, or depends on it, after whatever came before. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run(work);
  }

  /** Whether it could be done now. @throws ApiError not_found, duties_conflict, last_admin; role_unchanged where it was not begun */
  require(userId: string, wanted: RoleChange, isBegun = false): void {
    const { read } = this.#deps;
    requirePerson(read, userId);
    const facts = factsOf(read, userId);
    if (isBegun) requireAllowed(wanted, facts);
    else requireRoleChange(wanted, facts);
  }

  /**
   * Inside a turn. Sessions end with it: the next sign-in has the roles of then. A kill before the transaction leaves nothing here; the same change goes on
   * from there.
   * @throws ApiError as {@link require}; KeycloakUnreachableError
   */
  async change(
    userId: string,
    wanted: RoleChange,
    { settled, isBegun }: SettledChange,
  ): Promise<void> {
    const { commit, links, sessions } = this.#deps;
    this.require(userId, wanted, isBegun);
    const isGranted = wanted.change === "grant";
    await links.setRole(userId, wanted.role, isGranted);
    try {
      await commit.run((db) => {
        // A token may have brought the new role here meanwhile: that is no other change.
        const facts = factsOf(db, userId);
        requireAllowed(wanted, facts);
        setRoles(db, userId, rolesAfter(wanted, facts.held));
        sessions.endAllIn(db, { userId }, "revoked");
        settled(db);
      });
    } catch (error) {
      await links.setRole(userId, wanted.role, !isGranted);
      throw error;
    }
    await this.#review(userId);
  }

  /**
   * Makes an administrator of somebody at the host's word. The row of the finding is written with the role and before Keycloak hears of it: a kill between
   * leaves the finding, and the same command goes on from there. In a turn of its own.
   * @param settled joins the last transaction
   * @throws ApiError not_found, user_disabled, duties_conflict; KeycloakUnreachableError: then role and finding stand here, and the same command goes on
   */
  restore(userId: string, settled: (db: WriteHandle) => void): Promise<void> {
    return this.inTurn(async () => {
      const { commit, links, sessions, now } = this.#deps;
      const restoredAt = now();
      await commit.run((db) => {
        const person = requirePerson(db, userId);
        if (person.isDisabled) throw new ApiError("user_disabled", "the user is disabled");
        const facts = factsOf(db, userId);
        const wanted: RoleChange = { role: "platform-admin", change: "grant" };
        requireAllowed(wanted, facts);
        setRoles(db, userId, rolesAfter(wanted, facts.held));
        noteRestored(db, userId, restoredAt);
      });
      await links.setRole(userId, "platform-admin", true);
      await commit.run((db) => {
        sessions.endAllIn(db, { userId }, "revoked");
        settled(db);
      });
      await this.#review(userId);
    });
  }

  /** Inside a turn: nobody takes the last administrator away. @throws ApiError last_admin */
  requireAdministratorBeside(userId: string): void {
    const { read } = this.#deps;
    if (rolesOf(read, userId).includes("platform-admin"))
      requireAnotherAdministrator(otherHoldersOf(read, ["platform-admin"], userId));
  }

  /** The role has changed: a store that is away undoes nothing of it, and the next sweep asks again. */
  async #review(userId: string): Promise<void> {
    const { bucketKeys, onError } = this.#deps;
    await bucketKeys
      .review(userId)
      .catch((error: unknown) => onError(error, "key pairs of a person were not reviewed"));
  }
}

function requirePerson(db: AnyHandle, userId: string) {
  const person = findPersonById(db, userId);
  if (person === null) throw new ApiError("not_found", "there is no such user");
  return person;
}

function factsOf(db: AnyHandle, userId: string): RoleFacts {
  return {
    held: rolesOf(db, userId),
    isMember: isMemberBeyondOwn(db, userId),
    otherAdministrators: otherHoldersOf(db, ["platform-admin"], userId),
  };
}
