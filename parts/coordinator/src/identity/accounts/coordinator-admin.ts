/** The coordinator's own view of Keycloak's admin API. */
import { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { type KeycloakAddress, KeycloakUnreachableError } from "@resontech/keycloak/address";

const CLIENT = "resontech-coordinator";

export type CoordinatorAdminOptions = {
  address: KeycloakAddress;
  realm: string;
  /** PKCS #8, P-256. */
  clientKeyPem: string;
};

export class CoordinatorAdmin {
  readonly address: KeycloakAddress;
  readonly realm: string;
  readonly #keyPem: string;
  #admin: KeycloakAdmin | null = null;

  constructor({ address, realm, clientKeyPem }: CoordinatorAdminOptions) {
    this.address = address;
    this.realm = realm;
    this.#keyPem = clientKeyPem;
  }

  /** @throws KeycloakUnreachableError, KeycloakRefusedError */
  async get(): Promise<KeycloakAdmin> {
    this.#admin ??= await KeycloakAdmin.asClient(this.address, this.realm, CLIENT, this.#keyPem);
    if (this.#admin === null)
      throw new KeycloakUnreachableError("Keycloak does not know the coordinator's key yet");
    return this.#admin;
  }

  path(rest: string): string {
    return `/${this.realm}/${rest}`;
  }
}
