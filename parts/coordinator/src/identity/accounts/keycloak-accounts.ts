/** Local accounts in Keycloak: made for users of ours, whose id each account carries. */
import type { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { ApiError } from "../../api-error.ts";
import type { ApplianceRole } from "../../authorization/roles.ts";
import type { Source } from "../decisions/group-names.ts";
import { type AccountStanding, standingOf } from "./decisions/account-standing.ts";
import type { CoordinatorAdmin } from "./coordinator-admin.ts";

/** Which user of ours an account is for: nobody but administrators of the realm writes it. */
const USER_ATTRIBUTE = "resontechUser";
/** The person's id in an LDAP directory, as Keycloak keeps it. */
const DIRECTORY_ID = "LDAP_ID";

type Account = {
  id: string;
  enabled: boolean;
  /** Of the directory that the account comes from. */
  federationLink?: string;
  attributes?: Record<string, string[]>;
};
/** Whether the person of an account is still there. @property groups paths of Keycloak's own groups */
export type LookedAt = { standing: AccountStanding; groups: string[] };
type HeldUser = Account & {
  username: string;
  email?: string;
  emailVerified?: boolean;
  firstName?: string;
  lastName?: string;
  createdTimestamp?: number;
};
/** What Keycloak holds about a person; instants in RFC 3339, and no credential itself. */
export type HeldAccount = {
  username: string;
  email: string | null;
  emailVerified: boolean;
  firstName: string | null;
  lastName: string | null;
  attributes: Record<string, string[]>;
  createdAt: string | null;
  credentials: { type: string; label: string | null; createdAt: string | null }[];
};
type Role = { id: string; name: string };
/** @property clients whose sessions they are, by name */
export type AccountSession = {
  sid: string;
  startedAt: number;
  lastSeenAt: number;
  clients: string[];
};
type SessionRow = {
  id: string;
  start: number;
  lastAccess: number;
  clients: Record<string, string>;
};

/** Every method throws KeycloakUnreachableError and KeycloakRefusedError. */
export class KeycloakAccounts {
  readonly #admin: CoordinatorAdmin;

  constructor(admin: CoordinatorAdmin) {
    this.#admin = admin;
  }

  /**
   * The account of a user of ours, made where there is none. Answers with Keycloak's id.
   * @throws ApiError name_taken where the name is somebody else's, as of a person in a connected directory
   */
  async ensure(userId: string, username: string, roles: readonly ApplianceRole[]): Promise<string> {
    const admin = await this.#client();
    const subject =
      (await this.#find(userId, username)) ??
      (await admin.post(this.#path("users"), {
        ...{ username, enabled: true },
        attributes: { [USER_ATTRIBUTE]: [userId] },
      })) ??
      (await this.#find(userId, username));
    if (subject === null) throw new ApiError("name_taken", `the name ${username} is taken`);
    if (roles.length > 0) {
      const all = await admin.get<Role[]>(this.#path("roles"));
      const given = all.filter(({ name }) => roles.some((role) => role === name));
      await admin.post(this.#path(`users/${subject}/role-mappings/realm`), given);
    }
    return subject;
  }

  /** The person must change it at the next sign-in. */
  async setPassword(subject: string, password: string): Promise<void> {
    const admin = await this.#client();
    await admin.put(this.#path(`users/${subject}/reset-password`), {
      ...{ type: "password", value: password, temporary: true },
    });
  }

  async setRole(subject: string, role: ApplianceRole, isGranted: boolean): Promise<void> {
    const admin = await this.#client();
    const found = await admin.get<Role>(this.#path(`roles/${role}`));
    const path = this.#path(`users/${subject}/role-mappings/realm`);
    if (isGranted) await admin.post(path, [found]);
    else await admin.delete(path, [found]);
  }

  /** Every passkey and code generator of the account; the password stays. */
  async removeSecondFactors(subject: string): Promise<void> {
    const admin = await this.#client();
    const credentials = await admin.get<{ id: string; type: string }[]>(
      this.#path(`users/${subject}/credentials`),
    );
    for (const { id, type } of credentials)
      if (type !== "password") await admin.delete(this.#path(`users/${subject}/credentials/${id}`));
    await this.endSessions(subject);
  }

  /** Somebody who is disabled loses every session at Keycloak, too. */
  async setEnabled(subject: string, enabled: boolean): Promise<void> {
    const admin = await this.#client();
    await admin.put(this.#path(`users/${subject}`), { enabled });
    if (!enabled) await this.endSessions(subject);
  }

  async endSessions(subject: string): Promise<void> {
    const admin = await this.#client();
    await admin.post(this.#path(`users/${subject}/logout`), {});
  }

  /** Null where the account has none, or is no more. */
  async emailOf(subject: string): Promise<string | null> {
    const admin = await this.#client();
    const found = await admin.find<{ email?: string }>(this.#path(`users/${subject}`));
    return found?.email ?? null;
  }

  /** What Keycloak holds about the person of an account; null where it is no more. */
  async heldAbout(subject: string): Promise<HeldAccount | null> {
    const admin = await this.#client();
    const found = await admin.find<HeldUser>(this.#path(`users/${subject}`));
    if (found === null) return null;
    const { username, email, emailVerified, firstName, lastName, attributes = {} } = found;
    const credentials = await admin.get<
      { type: string; userLabel?: string; createdDate?: number }[]
    >(this.#path(`users/${subject}/credentials`));
    return {
      ...{ username, email: email ?? null, emailVerified: emailVerified === true },
      ...{ firstName: firstName ?? null, lastName: lastName ?? null, attributes },
      createdAt: instantOf(found.createdTimestamp),
      credentials: credentials.map(({ type, userLabel, createdDate }) => ({
        ...{ type, label: userLabel ?? null, createdAt: instantOf(createdDate) },
      })),
    };
  }

  /** The account is gone, with sessions and credentials; one that is gone already is fine. A directory's own account stays in the directory. */
  async remove(subject: string): Promise<void> {
    const admin = await this.#client();
    await admin.delete(this.#path(`users/${subject}`));
  }

  /** The account's sessions. Instants in Unix milliseconds. */
  async sessionsOf(subject: string): Promise<AccountSession[]> {
    const admin = await this.#client();
    const found = await admin.find<SessionRow[]>(this.#path(`users/${subject}/sessions`));
    return (found ?? []).map(({ id, start, lastAccess, clients }) => ({
      ...{ sid: id, startedAt: start, lastSeenAt: lastAccess },
      clients: Object.values(clients),
    }));
  }

  /** One that is over already is fine. */
  async endSession(sid: string): Promise<void> {
    const admin = await this.#client();
    await admin.delete(this.#path(`sessions/${encodeURIComponent(sid)}`));
  }

  /** What Keycloak saw: a page of one stream, the oldest first. @param from Unix milliseconds */
  async events(stream: string, from: number, first: number, max: number): Promise<unknown[]> {
    const admin = await this.#client();
    return await admin.get<unknown[]>(
      this.#path(`${stream}?direction=asc&dateFrom=${from}&first=${first}&max=${max}`),
    );
  }

  /** True of an account that Keycloak keeps itself: its password can be set here. */
  async isLocal(subject: string): Promise<boolean> {
    const admin = await this.#client();
    const account = await admin.find<Account>(this.#path(`users/${subject}`));
    if (account === null || account.federationLink !== undefined) return false;
    return (await this.sourceOf(subject)) === null;
  }

  /** Where the person comes from; null of an account that Keycloak itself keeps, and of one that is gone. */
  async sourceOf(subject: string): Promise<Source | null> {
    const admin = await this.#client();
    const account = await admin.find<Account>(this.#path(`users/${subject}`));
    if (account === null) return null;
    if (account.federationLink !== undefined) {
      const { name } = await admin.get<{ name: string }>(
        this.#path(`components/${account.federationLink}`),
      );
      const id = account.attributes?.[DIRECTORY_ID]?.[0];
      return id === undefined ? null : { name, subject: id, kind: "storage" };
    }
    const [link] = await admin.get<{ identityProvider: string; userId: string }[]>(
      this.#path(`users/${subject}/federated-identity`),
    );
    return link === undefined
      ? null
      : { name: link.identityProvider, subject: link.userId, kind: "broker" };
  }

  /** @param source of the person, as its row has it */
  async lookAt(subject: string, source: Pick<Source, "name" | "kind"> | null): Promise<LookedAt> {
    const admin = await this.#client();
    const account = await admin.find<Account>(this.#path(`users/${subject}`));
    const groups =
      account === null || source?.kind !== "storage"
        ? []
        : ((await admin.find<{ path: string }[]>(this.#path(`users/${subject}/groups`))) ?? []);
    const paths = groups.map(({ path }) => path);
    return { standing: standingOf(account, source, paths), groups: paths };
  }

  async #find(userId: string, username: string): Promise<string | null> {
    const admin = await this.#client();
    const [found] = await admin.get<Account[]>(
      this.#path(`users?exact=true&username=${encodeURIComponent(username)}`),
    );
    if (found === undefined) return null;
    if (found.attributes?.[USER_ATTRIBUTE]?.[0] !== userId)
      throw new ApiError("name_taken", `the name ${username} is somebody else's at Keycloak`);
    return found.id;
  }

  #path(rest: string): string {
    return this.#admin.path(rest);
  }

  #client(): Promise<KeycloakAdmin> {
    return this.#admin.get();
  }
}

function instantOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
