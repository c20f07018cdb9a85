/** Every user of ours is somebody in Keycloak: users of an earlier release, and those who were added while Keycloak was away, become so later. */
import { randomBytes } from "node:crypto";
import { ApiError } from "../../api-error.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import type { ApplianceRole } from "../../authorization/roles.ts";
import { linkPerson, subjectOf, unlinkedUsers } from "../people-store.ts";
import type { KeycloakAccounts } from "./keycloak-accounts.ts";

const RETRY_MS = 60_000;
/** As the realm's policy wants it; the person replaces it at once. */
const PASSWORD_BYTES = 15;

export type AccountLinksDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  accounts: KeycloakAccounts;
  onError: (error: unknown) => void;
};

export class AccountLinks implements Disposable {
  readonly #deps: AccountLinksDeps;
  readonly #timer: NodeJS.Timeout;

  constructor(deps: AccountLinksDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => void this.linkAll(), RETRY_MS);
    this.#timer.unref();
  }

  /** Links whoever is not; one name that is taken keeps nobody else waiting. */
  async linkAll(): Promise<void> {
    const { read, onError } = this.#deps;
    for (const user of unlinkedUsers(read)) {
      try {
        await this.#link(user);
      } catch (error) {
        onError(error);
        if (!(error instanceof ApiError)) return;
      }
    }
  }

  /**
   * A password that works once, to hand over. Answers with it; it is nowhere else.
   * @throws ApiError name_taken, directory_user
   */
  async firstPassword(userId: string): Promise<string> {
    const { accounts } = this.#deps;
    const subject = await this.#subject(userId);
    if (!(await accounts.isLocal(subject)))
      throw new ApiError("directory_user", "the user's password is the directory's");
    const password = randomBytes(PASSWORD_BYTES).toString("base64url");
    await accounts.setPassword(subject, password);
    return password;
  }

  async setRole(userId: string, role: ApplianceRole, isGranted: boolean): Promise<void> {
    await this.#deps.accounts.setRole(await this.#subject(userId), role, isGranted);
  }

  async resetSecondFactor(userId: string): Promise<void> {
    await this.#deps.accounts.removeSecondFactors(await this.#subject(userId));
  }

  /** At Keycloak; refresh tokens of shells are void with them. */
  async endSessions(userId: string): Promise<void> {
    await this.#deps.accounts.endSessions(await this.#subject(userId));
  }

  /** Nobody who was never linked can have signed in. */
  async setEnabled(userId: string, enabled: boolean): Promise<void> {
    const subject = subjectOf(this.#deps.read, userId);
    if (subject !== null) await this.#deps.accounts.setEnabled(subject, enabled);
  }

  async #subject(userId: string): Promise<string> {
    const known = subjectOf(this.#deps.read, userId);
    if (known !== null) return known;
    const user = unlinkedUsers(this.#deps.read).find((one) => one.userId === userId);
    if (user === undefined) throw new ApiError("not_found", "there is no such user");
    return await this.#link(user);
  }

  async #link(user: {
    userId: string;
    username: string;
    roles: readonly ApplianceRole[];
  }): Promise<string> {
    const { commit, accounts } = this.#deps;
    const subject = await accounts.ensure(user.userId, user.username, user.roles);
    await commit.run((db) => linkPerson(db, user.userId, subject));
    return subject;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
