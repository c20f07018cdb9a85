/** Clients of service accounts at Keycloak: `private_key_jwt`, tokens for themselves, and nothing else. */
import { removeRegisteredClient } from "@resontech/keycloak/admin-api";
import { SERVICE_ACCOUNT_CLIENT_PREFIX } from "@resontech/contracts/http-service-accounts";
import { API_AUDIENCE } from "../api-audience.ts";
import type { CoordinatorAdmin } from "./coordinator-admin.ts";

/** @property subject of the client's own user, which its tokens name @property registration by which alone the client is taken away */
export type RegisteredClient = { subject: string; registration: string };
type Named = { id: string };

/**
 * The coordinator may create clients, and no more: what it made it takes away by the token that came with it.
 * Every method throws KeycloakUnreachableError and KeycloakRefusedError.
 */
export class ServiceClients {
  readonly #admin: CoordinatorAdmin;

  constructor(admin: CoordinatorAdmin) {
    this.#admin = admin;
  }

  /** @param jwk the public key, with `kid` */
  async register(clientId: string, jwk: Record<string, string>): Promise<RegisteredClient> {
    const admin = await this.#admin.get();
    const registration = await admin.registerClient(this.#admin.realm, clientOf(clientId, jwk));
    const subject = await this.#userOf(clientId);
    if (subject === null) throw new Error(`keycloak made ${clientId} without a user`);
    return { subject, registration };
  }

  /** Where the token opens nothing any more, a client that is there all the same gets no token: its user is disabled. */
  async remove(clientId: string, registration: string | null): Promise<void> {
    const { address, realm } = this.#admin;
    const isGone =
      registration !== null &&
      (await removeRegisteredClient(address, realm, clientId, registration));
    if (!isGone) await this.disable(clientId);
  }

  /** It gets no token from here on. */
  async disable(clientId: string): Promise<void> {
    const subject = await this.#userOf(clientId);
    if (subject === null) return;
    const admin = await this.#admin.get();
    await admin.put(this.#admin.path(`users/${subject}`), { enabled: false });
  }

  /** Ids of all that there are. */
  async list(): Promise<string[]> {
    const admin = await this.#admin.get();
    const found = await admin.get<{ clientId: string }[]>(
      this.#admin.path(`clients?search=true&max=10000&clientId=${SERVICE_ACCOUNT_CLIENT_PREFIX}`),
    );
    return found
      .map(({ clientId }) => clientId)
      .filter((clientId) => clientId.startsWith(SERVICE_ACCOUNT_CLIENT_PREFIX));
  }

  async #userOf(clientId: string): Promise<string | null> {
    const admin = await this.#admin.get();
    const [client] = await admin.get<Named[]>(
      this.#admin.path(`clients?clientId=${encodeURIComponent(clientId)}`),
    );
    if (client === undefined) return null;
    const user = await admin.find<Named>(
      this.#admin.path(`clients/${client.id}/service-account-user`),
    );
    return user?.id ?? null;
  }
}

function clientOf(clientId: string, jwk: Record<string, string>): object {
  return {
    ...{ clientId, name: "A service account of a project", enabled: true, publicClient: false },
    ...{ standardFlowEnabled: false, implicitFlowEnabled: false, serviceAccountsEnabled: true },
    ...{ directAccessGrantsEnabled: false, fullScopeAllowed: false },
    clientAuthenticatorType: "client-jwt",
    attributes: {
      "access.token.signed.response.alg": "ES256",
      "access.token.header.type.rfc9068": "true",
      "token.endpoint.auth.signing.alg": "ES256",
      "use.jwks.string": "true",
      "jwks.string": JSON.stringify({ keys: [jwk] }),
    },
    protocolMappers: [
      {
        name: `audience-${API_AUDIENCE}`,
        protocol: "openid-connect",
        protocolMapper: "oidc-audience-mapper",
        config: {
          "included.client.audience": API_AUDIENCE,
          "access.token.claim": "true",
          "id.token.claim": "false",
        },
      },
    ],
  };
}
