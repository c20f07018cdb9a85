/** A person's way from Keycloak's page to a session here. */
import { hash, randomBytes, randomUUID } from "node:crypto";
import { committer, stepUpNonce } from "@resontech/audit/producer";
import type { StepUpStatement } from "@resontech/contracts/approval-proof";
import type { OperationDeps } from "../../audited-operation.ts";
import { COORDINATOR, type SessionCaller } from "../../authorization/caller.ts";
import { actorOf } from "../../authorization/in-the-log.ts";
import type { ReadHandle, WriteHandle } from "../../db/open-database.ts";
import { findUser } from "../bucket-store.ts";
import { createUser } from "../create-user.ts";
import { applianceRoles, needsSecondFactor, SECOND_FACTOR } from "../decisions/people-roles.ts";
import { usernameFor } from "../decisions/user-names.ts";
import type { KeycloakAccounts } from "../accounts/keycloak-accounts.ts";
import { findPerson, findPersonOf, linkPerson } from "../people-store.ts";
import {
  OpenIdProvider,
  type SignedIn,
  type SignInRequest,
  SignInRefused,
} from "./open-id-provider.ts";
import type { Seal } from "../seal.ts";
import type { Sessions } from "./sessions.ts";
import { keepSignature } from "./step-up-signatures.ts";

/** What the browser carries from the start of a sign-in to its end, sealed. */
type Pending = SignInRequest & { returnTo: string; expiresAt: number; signs?: Signs };
/** What the sign-in is a signature of, beside what is asked for: that is in the nonce, by its digest. */
type Signs = Pick<StepUpStatement, "approval" | "answer" | "by" | "salt">;

const PENDING = "pending-sign-in";
/** From our page to Keycloak's and back, with a password to change and a second factor to set up. */
export const PENDING_MS = 15 * 60_000;
const FIRST_LEVEL = "1";
const SALT_BYTES = 32;

export type SignInDeps = OperationDeps & {
  read: ReadHandle;
  provider: OpenIdProvider;
  sessions: Sessions;
  seal: Seal;
  accounts: Pick<KeycloakAccounts, "sourceOf">;
  quotaBytes: number;
  now: () => number;
  /** A request has a signature more. Called inside the transaction. */
  onSigned: (approval: string) => void;
};

/** The browser's next step. @property cookie of the new session */
export type SignInStep =
  | { to: "keycloak"; url: URL; state: string; pending: string }
  | { to: "page"; path: string; cookie: string };

export class SignIn {
  readonly #deps: SignInDeps;

  constructor(deps: SignInDeps) {
    this.#deps = deps;
  }

  /**
   * @param options.stepUp at the second level, shown now; `action` is one of Keycloak's, as for a new passkey; `signs` is what the sign-in of this person,
   * and of nobody else, is to sign
   */
  async begin(options: {
    returnTo: string;
    stepUp: boolean;
    action?: string;
    signs?: Omit<StepUpStatement, "salt">;
  }): Promise<Extract<SignInStep, { to: "keycloak" }>> {
    const { provider, seal, now } = this.#deps;
    const level = options.stepUp ? SECOND_FACTOR : FIRST_LEVEL;
    const statement =
      options.signs === undefined
        ? null
        : { ...options.signs, salt: randomBytes(SALT_BYTES).toString("hex") };
    const request = OpenIdProvider.newRequest(
      level,
      statement === null ? undefined : stepUpNonce(statement),
    );
    const pending: Pending = {
      ...request,
      returnTo: options.returnTo,
      expiresAt: now() + PENDING_MS,
      ...(statement === null ? {} : { signs: signsOf(statement) }),
    };
    return {
      to: "keycloak",
      url: await provider.signInUrl(request, options.action),
      state: request.state,
      pending: seal.seal(PENDING, pending).toString("base64url"),
    };
  }

  /**
   * @param query of the callback @param sealed what the browser kept for its `state`
   * @param before the cookie of the session that the browser had
   * @throws SignInRefused, KeycloakUnreachableError
   */
  async finish(
    query: string,
    sealed: string | null,
    before: string | null,
    from: { ip: string; agent: string | undefined },
  ): Promise<SignInStep> {
    const pending = this.#open(sealed);
    const signedIn = await this.#deps.provider.finish(pending, query);
    const roles = applianceRoles(signedIn.roles);
    if (pending.acr === SECOND_FACTOR && signedIn.acr !== SECOND_FACTOR)
      throw new SignInRefused("second_factor_missing");
    if (needsSecondFactor(roles) && signedIn.acr !== SECOND_FACTOR)
      return await this.begin({ returnTo: pending.returnTo, stepUp: true });
    const userId = await this.userOf(signedIn);
    if (pending.signs !== undefined && pending.signs.by !== userId)
      throw new SignInRefused("other_person");
    const cookie = await this.#begin(userId, signedIn, before, from, pending.signs ?? null);
    return { to: "page", path: pending.returnTo, cookie };
  }

  #open(sealed: string | null): Pending {
    const { seal, now } = this.#deps;
    if (sealed === null) throw new SignInRefused("state_missing");
    const pending = seal.open(PENDING, Buffer.from(sealed, "base64url")) as Pending | null;
    if (pending === null) throw new SignInRefused("state_forged");
    if (pending.expiresAt <= now()) throw new SignInRefused("state_expired");
    return pending;
  }

  /**
   * By Keycloak's subject alone, or by that of the directory: who left there and came back is somebody new for Keycloak. Somebody new gets rows of a
   * user; a name that another has here is never taken over.
   */
  async userOf(signedIn: Pick<SignedIn, "subject" | "username">): Promise<string> {
    const { read, commit, accounts } = this.#deps;
    const known = findPerson(read, signedIn.subject);
    if (known?.isDisabled) throw new SignInRefused("user_disabled");
    if (known !== null) return known.userId;
    const source = await accounts.sourceOf(signedIn.subject);
    const back = source === null ? null : findPersonOf(read, source);
    if (back?.isDisabled) throw new SignInRefused("user_disabled");
    if (back !== null) {
      await commit.run((db) => linkPerson(db, back.userId, signedIn.subject));
      return back.userId;
    }
    const username = usernameFor(signedIn.username);
    if (findUser(read, username) !== null) throw new SignInRefused("name_taken");
    return await createUser(
      { ...this.#deps, caller: COORDINATOR },
      { username, subject: signedIn.subject, source },
    );
  }

  #keepSignature(db: WriteHandle, caller: SessionCaller, signs: Signs, token: string): void {
    const { record, now, onSigned } = this.#deps;
    if (!keepSignature(db, { ...signs, token, signedAt: now() })) return;
    onSigned(signs.approval);
    const commit = committer();
    record(
      db,
      {
        ...{ type: "iam.approval.sign", phase: "fact", op: randomUUID() },
        ...{ actor: actorOf(caller, commit), object: { kind: "approval", id: signs.approval } },
        detail: { answer: signs.answer, token_sha256: hash("sha256", token) },
      },
      commit.disclosures,
    );
  }

  async #begin(
    userId: string,
    signedIn: SignedIn,
    before: string | null,
    from: { ip: string; agent: string | undefined },
    signs: Signs | null,
  ): Promise<string> {
    const { sessions, record } = this.#deps;
    return await sessions.begin(userId, signedIn, before, (db, caller) => {
      if (signs !== null) this.#keepSignature(db, caller, signs, signedIn.tokens.id);
      const commit = committer();
      record(
        db,
        {
          ...{ type: "auth.session.begin", phase: "fact", op: randomUUID() },
          actor: actorOf(caller, commit),
          src: {
            addr: commit("src.addr", from.ip),
            ...(from.agent === undefined
              ? {}
              : { agent: commit("src.agent", from.agent.slice(0, 512)) }),
          },
          object: { kind: "user", id: userId },
          detail: { again: before !== null },
        },
        commit.disclosures,
      );
    });
  }
}

function signsOf({ approval, answer, by, salt }: StepUpStatement): Signs {
  return { approval, answer, by, salt };
}
