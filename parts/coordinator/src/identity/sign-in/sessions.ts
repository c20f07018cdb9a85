/** Sessions of browsers: begun by a sign-in at Keycloak, asked after while they are used, ended by whoever comes first. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { committer } from "@resontech/audit/producer";
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import { ApiError } from "../../api-error.ts";
import type { AuditGate, RecordEvent } from "../../audit-ports.ts";
import type { SessionCaller, UserCaller } from "../../authorization/caller.ts";
import { actorOf, COORDINATOR_ACTOR } from "../../authorization/in-the-log.ts";
import type { ApplianceRole } from "../../authorization/roles.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle, WriteHandle } from "../../db/open-database.ts";
import { applianceRoles, grantsOf, rolesShown } from "../decisions/people-roles.ts";
import {
  ACTIVITY_STEP_MS,
  CHECK_MS,
  IDLE_MS,
  LIFE_MS,
  sessionEnd,
} from "../decisions/session-life.ts";
import type { KeycloakAccounts } from "../accounts/keycloak-accounts.ts";
import { groupNames } from "../decisions/group-names.ts";
import { noteGroups } from "../directories/group-store.ts";
import type { RequestRole } from "../directories/request-role.ts";
import {
  findPerson,
  findPersonById,
  heldBy,
  membershipsOf,
  noteSignIn,
  subjectOf,
} from "../people-store.ts";
import {
  type GroupClaims,
  type KeptTokens,
  type OpenIdProvider,
  type PersonClaims,
  SessionGone,
  type SignedIn,
} from "./open-id-provider.ts";
import { rolesTaken } from "../decisions/duties.ts";
import { rolesOf, setRoles } from "../role-holders.ts";
import type { BucketKeys } from "../bucket-keys.ts";
import type { Seal } from "../seal.ts";
import {
  deleteOverSessions,
  deleteSession,
  deleteSessionsOf,
  type EndedSession,
  findSession,
  hasEnded,
  insertSession,
  noteActivity,
  noteCheck,
  noteEnded,
  type Session,
} from "./session-store.ts";
import { WithheldRoles } from "./withheld-roles.ts";

const TOKENS = "session-tokens";
const COOKIE_BYTES = 32;
/** After an answer that left open whether the person is still there. */
const ASK_AGAIN_MS = 30_000;

export type EndReason = EventDetail<"auth.session.end">["reason"];

export type SessionsDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  gate: AuditGate;
  record: RecordEvent;
  provider: OpenIdProvider;
  seal: Seal;
  accounts: Pick<KeycloakAccounts, "lookAt">;
  requestRole: RequestRole;
  /** Key pairs follow the duties that a token names. */
  bucketKeys: Pick<BucketKeys, "review">;
  onError: (error: unknown, what: string) => void;
  now: () => number;
  /** Milliseconds. @default IDLE_MS */
  idleMs?: number | undefined;
};

export class Sessions {
  readonly #deps: SessionsDeps;
  /** One question a session to Keycloak at a time: two refreshes at once end its session. */
  readonly #checks = new Map<string, Promise<Session | null>>();
  /** Sessions whose person's directory is away, and until when nobody asks again. */
  readonly #openUntil = new Map<string, number>();
  readonly #withheld: WithheldRoles;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
    this.#withheld = new WithheldRoles(deps.commit, deps.record);
  }

  /** After so long without anything that the person did a session is over. */
  get idleMs(): number {
    return this.#deps.idleMs ?? IDLE_MS;
  }

  /**
   * A session that replaces `before`, which the same browser had. Answers with what its cookie holds.
   * @param write joins the transaction
   */
  async begin(
    userId: string,
    signedIn: SignedIn,
    before: string | null,
    write: (db: WriteHandle, caller: SessionCaller) => void,
  ): Promise<string> {
    const { commit, now, seal } = this.#deps;
    const cookie = randomBytes(COOKIE_BYTES).toString("base64url");
    const at = now();
    const old = before === null ? null : this.#find(before);
    const session: Session = {
      hash: hashOf(cookie),
      id: `s_${randomBytes(12).toString("hex")}`,
      userId,
      sid: signedIn.sid,
      roles: [],
      acr: signedIn.acr,
      signedInAt: at,
      // A step-up makes no session longer.
      beganAt: old?.sid === signedIn.sid ? old.beganAt : at,
      activeAt: at,
      endsAt: old?.sid === signedIn.sid ? old.endsAt : at + LIFE_MS,
      checkedAt: at,
      tokens: seal.seal(TOKENS, signedIn.tokens),
    };
    await commit.run((db) => {
      if (old !== null) deleteSession(db, old.hash);
      session.roles = this.#takeRoles(db, userId, applianceRoles(signedIn.roles));
      insertSession(db, session);
      noteSignIn(db, userId, at);
      this.#noteGroups(db, userId, signedIn.groups);
      write(db, this.#callerIn(session));
    });
    await this.#reviewPairs(userId);
    return cookie;
  }

  /** Who sends this cookie; null where its session is over or never was. @throws ApiError while nobody can say */
  async callerOf(cookie: string): Promise<SessionCaller | null> {
    const { now } = this.#deps;
    let session = this.#find(cookie);
    if (session === null) return null;
    const end = sessionEnd(session, now(), this.idleMs);
    if (end !== null) {
      await this.#end(session, end);
      return null;
    }
    if (now() - session.checkedAt >= CHECK_MS && now() >= (this.#openUntil.get(session.id) ?? 0))
      session = await this.#check(session);
    return session === null ? null : this.#caller(session);
  }

  /**
   * Who sends an access token of the command line. Its roles are at most five minutes old, and its session at Keycloak is not known to be over.
   */
  callerOfPerson({
    subject,
    sid,
    acr,
    authenticatedAt,
    roles,
  }: PersonClaims): SessionCaller | null {
    const { read } = this.#deps;
    if (hasEnded(read, sid)) return null;
    const person = findPerson(read, subject);
    if (person === null || person.isDisabled || person.hasLeft) return null;
    const named = applianceRoles(roles);
    const memberships = membershipsOf(read, person.userId, named);
    return {
      kind: "session",
      sessionId: sid,
      userId: person.userId,
      projectId: memberships[0]?.projectId ?? "",
      grants: grantsOf(rolesShown(named, acr), memberships),
      holds: heldBy(read, person.userId, named),
      signIn: { acr, at: authenticatedAt },
    };
  }

  /** The session that a caller is, for what its page shows. */
  describe({ sessionId }: SessionCaller, cookie: string): Session {
    const session = this.#find(cookie);
    if (session === null || session.id !== sessionId)
      throw new ApiError("session_required", "the session has ended");
    return session;
  }

  /** What a request must name beside the cookie to change anything: only a page that could read our answer knows it. */
  csrfToken(cookie: string): string {
    return this.#deps.seal.derive("csrf", cookie).toString("base64url");
  }

  /** The person did something. */
  async noteActivity(cookie: string): Promise<void> {
    const { commit, now } = this.#deps;
    const session = this.#find(cookie);
    if (session === null || now() - session.activeAt < ACTIVITY_STEP_MS) return;
    await commit.run((db) => noteActivity(db, session.hash, now()));
  }

  /** Answers with Keycloak's address to end its session as well; null when there was none to end. */
  async signOut(cookie: string): Promise<URL | null> {
    const session = this.#find(cookie);
    if (session === null) return null;
    const tokens = this.#tokens(session);
    await this.#end(session, "signed_out");
    return tokens === null ? null : this.#deps.provider.signOutUrl(tokens);
  }

  /** Ends all of a person or of one session at Keycloak. Answers how many. */
  async endAll(of: { userId: string } | { sid: string }, reason: EndReason): Promise<number> {
    return await this.#deps.commit.run((db) => this.endAllIn(db, of, reason));
  }

  /** The same inside the transaction of what they end for. */
  endAllIn(db: WriteHandle, of: { userId: string } | { sid: string }, reason: EndReason): number {
    const ended = deleteSessionsOf(db, of);
    for (const sid of "sid" in of ? [of.sid] : ended.map((one) => one.sid))
      noteEnded(db, sid, this.#deps.now());
    for (const session of ended) this.#recordEnd(db, session, reason);
    return ended.length;
  }

  /**
   * Ends one session of Keycloak's here: rows of browsers, and tokens of a shell. On record also where no row was left.
   * @param by who ends it
   */
  async endOne({ userId, sid }: { userId: string; sid: string }, by: UserCaller): Promise<void> {
    const { commit, now } = this.#deps;
    await commit.run((db) => {
      deleteSessionsOf(db, { sid });
      noteEnded(db, sid, now());
      this.#recordEnd(db, { userId }, "revoked", by);
    });
  }

  /** Ends what nobody uses any more. */
  async sweep(): Promise<void> {
    const { commit, now } = this.#deps;
    const at = now();
    await commit.run((db) => {
      for (const session of deleteOverSessions(db, { idleBefore: at - this.idleMs, now: at }))
        this.#recordEnd(db, session, session.endsAt <= at ? "expired" : "idle");
    });
  }

  #takeRoles(db: WriteHandle, userId: string, named: readonly ApplianceRole[]): ApplianceRole[] {
    const roles = rolesTaken(named, rolesOf(db, userId));
    setRoles(db, userId, roles);
    this.#withheld.note(db, userId, named, roles);
    return roles;
  }

  #find(cookie: string): Session | null {
    return findSession(this.#deps.read, hashOf(cookie));
  }

  #tokens(session: Session): KeptTokens | null {
    return this.#deps.seal.open(TOKENS, session.tokens) as KeptTokens | null;
  }

  #caller(session: Session): SessionCaller | null {
    const { read } = this.#deps;
    const person = findPersonById(read, session.userId);
    if (person === null || person.isDisabled || person.hasLeft) return null;
    return this.#callerIn(session);
  }

  #callerIn(session: Session): SessionCaller {
    const { read } = this.#deps;
    const memberships = membershipsOf(read, session.userId, session.roles);
    return {
      kind: "session",
      sessionId: session.id,
      userId: session.userId,
      projectId: memberships[0]?.projectId ?? "",
      grants: grantsOf(session.roles, memberships),
      holds: heldBy(read, session.userId, session.roles),
      signIn: { acr: session.acr, at: session.signedInAt },
    };
  }

  #check(session: Session): Promise<Session | null> {
    const running = this.#checks.get(session.id);
    if (running !== undefined) return running;
    const check = this.#ask(session).finally(() => this.#checks.delete(session.id));
    this.#checks.set(session.id, check);
    return check;
  }

  /** A Keycloak that can't be asked removes nobody: the session lives to its end. */
  async #ask(session: Session): Promise<Session | null> {
    const { provider, commit, seal, now } = this.#deps;
    const tokens = this.#tokens(session);
    if (tokens === null) {
      await this.#end(session, "key_lost");
      return null;
    }
    try {
      const fresh = await provider.refresh(tokens);
      const sealed = seal.seal(TOKENS, fresh.tokens);
      const roles = await commit.run((db) => {
        const roles = this.#takeRoles(db, session.userId, applianceRoles(fresh.roles));
        noteCheck(db, session.hash, { roles, tokens: sealed, now: now() });
        this.#noteGroups(db, session.userId, fresh.groups);
        return roles;
      });
      await this.#reviewPairs(session.userId);
      this.#openUntil.delete(session.id);
      return { ...session, roles };
    } catch (error) {
      if (!(error instanceof SessionGone) || (await this.#isOpen(session))) {
        this.#openUntil.set(session.id, now() + ASK_AGAIN_MS);
        return session;
      }
      await this.#end(session, "removed");
      return null;
    }
  }

  /** Keycloak refuses people of a directory that does not answer, too, and nobody is to be out for that. */
  async #isOpen({ userId }: Session): Promise<boolean> {
    const { read, accounts } = this.#deps;
    const person = findPersonById(read, userId);
    const subject = subjectOf(read, userId);
    if (person?.source?.kind !== "storage" || subject === null) return false;
    const looked = await accounts.lookAt(subject, person.source).catch(() => null);
    return looked === null || looked.standing === "unknown";
  }

  /** A store that is away keeps nobody out of a page; the next sweep asks again. */
  async #reviewPairs(userId: string): Promise<void> {
    const { bucketKeys, onError } = this.#deps;
    await bucketKeys
      .review(userId)
      .catch((error: unknown) => onError(error, "key pairs of a person were not reviewed"));
  }

  #noteGroups(db: WriteHandle, userId: string, claims: GroupClaims): void {
    const { read, requestRole } = this.#deps;
    const person = findPersonById(read, userId);
    for (const role of noteGroups(db, userId, groupNames(person?.source ?? null, claims)))
      requestRole(db, userId, role);
  }

  async #end(session: Session, reason: EndReason): Promise<void> {
    this.#openUntil.delete(session.id);
    await this.#deps.commit.run((db) => {
      if (deleteSession(db, session.hash))
        this.#recordEnd(
          db,
          session,
          reason,
          reason === "signed_out" ? this.#caller(session) : null,
        );
    });
  }

  /** @param by who ended it; null where nobody did */
  #recordEnd(
    db: WriteHandle,
    { userId }: Pick<EndedSession, "userId">,
    reason: EndReason,
    by: UserCaller | null = null,
  ): void {
    const commit = committer();
    const actor = by === null ? COORDINATOR_ACTOR : actorOf(by, commit);
    this.#deps.record(
      db,
      {
        ...{ type: "auth.session.end", phase: "fact", op: randomUUID(), actor },
        object: { kind: "user", id: userId },
        detail: { reason },
      },
      commit.disclosures,
    );
  }
}

function hashOf(cookie: string): Buffer {
  return createHash("sha256").update(cookie).digest();
}
