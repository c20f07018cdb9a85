/** Local accounts in Keycloak: made for users of ours, whose id each account carries. */
import { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { type KeycloakAddress, KeycloakUnreachableError } from "@resontech/keycloak/address";
import { ApiError } from "../../api-error.ts";
import type { ApplianceRole } from "../../authorization/roles.ts";

const CLIENT = "resontech-coordinator";
/** Which user of ours an account is for: nobody but administrators of the realm writes it. */
const USER_ATTRIBUTE = "resontechUser";

type Account = {
  id: string;
  enabled: boolean;
  /** Of the directory that the account comes from. */
  federationLink?: string;
  attributes?: Record<string, string[]>;
};
type Role = { id: string; name: string };

export type KeycloakAccountsOptions = {
  address: KeycloakAddress;
  realm: string;
  /** PKCS #8, P-256. */
  clientKeyPem: string;
};

/** Every method throws KeycloakUnreachableError and KeycloakRefusedError. */
export class KeycloakAccounts {
  readonly #options: KeycloakAccountsOptions;
  #admin: KeycloakAdmin | null = null;

  constructor(options: KeycloakAccountsOptions) {
    this.#options = options;
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

  /** True of an account that Keycloak keeps itself: its password can be set here. */
  async isLocal(subject: string): Promise<boolean> {
    const admin = await this.#client();
    const account = await admin.find<Account>(this.#path(`users/${subject}`));
    return account !== null && account.federationLink === undefined;
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
    return `/${this.#options.realm}/${rest}`;
  }

  async #client(): Promise<KeycloakAdmin> {
    const { address, realm, clientKeyPem } = this.#options;
    this.#admin ??= await KeycloakAdmin.asClient(address, realm, CLIENT, clientKeyPem);
    if (this.#admin === null)
      throw new KeycloakUnreachableError("Keycloak does not know the coordinator's key yet");
    return this.#admin;
  }
}
