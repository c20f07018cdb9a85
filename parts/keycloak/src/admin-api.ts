/** Keycloak's admin API: https://www.keycloak.org/docs-api/26.7.3/rest-api/ */
import {
  askKeycloak,
  REALM_TIMEOUT_MS,
  type KeycloakAddress,
  type KeycloakAnswer,
} from "./address.ts";
import { signClientAssertion } from "./client-assertion.ts";

const REALMS = "/admin/realms";

/** A token is asked for anew so long before its end. */
const SPARE_MS = 10_000;

/** Keycloak did not do what it was asked; `status` is its own. */
export class KeycloakRefusedError extends Error {
  override readonly name = "KeycloakRefusedError";
  readonly code = "keycloak_refused";
  readonly status: number;
  /** What Keycloak said, as it came. */
  readonly answer: string;

  constructor(method: string, path: string, status: number, answer: string) {
    super(`keycloak answered ${status} to ${method} ${path}: ${answer.slice(0, 300)}`);
    this.status = status;
    this.answer = answer;
  }
}

type Body = { type: string; text: string };
type Token = { value: string; expiresAt: number };
/** Null when the credentials are refused. */
type AskToken = () => Promise<Token | null>;

/** One identity's view of the admin API. */
export class KeycloakAdmin {
  readonly #address: KeycloakAddress;
  readonly #ask: AskToken;
  #token: Token;

  private constructor(address: KeycloakAddress, ask: AskToken, token: Token) {
    this.#address = address;
    this.#ask = ask;
    this.#token = token;
  }

  /** The temporary administrator of the first start; null when there is none, or none any more. */
  static async asBootstrap(
    address: KeycloakAddress,
    username: string,
    password: string,
  ): Promise<KeycloakAdmin | null> {
    return await KeycloakAdmin.#open(address, () =>
      fetchToken(address, "master", {
        grant_type: "password",
        client_id: "admin-cli",
        username,
        password,
      }),
    );
  }

  /** A client that signs with a key, so that there is no password to keep; null when Keycloak does not know client or key. */
  static async asClient(
    address: KeycloakAddress,
    realm: string,
    clientId: string,
    keyPem: string,
  ): Promise<KeycloakAdmin | null> {
    return await KeycloakAdmin.#open(address, async () =>
      fetchToken(address, realm, {
        grant_type: "client_credentials",
        client_id: clientId,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: await signClientAssertion(
          clientId,
          keyPem,
          `${address.origin}/realms/${realm}`,
        ),
      }),
    );
  }

  static async #open(address: KeycloakAddress, ask: AskToken): Promise<KeycloakAdmin | null> {
    const token = await ask();
    return token === null ? null : new KeycloakAdmin(address, ask, token);
  }

  /** @param path after `/admin/realms` @throws KeycloakRefusedError, KeycloakUnreachableError */
  async get<T = unknown>(path: string): Promise<T> {
    return JSON.parse((await this.#send("GET", path)).text) as T;
  }

  /** The same; null where there is nothing. */
  async find<T>(path: string): Promise<T | null> {
    const answer = await this.#send("GET", path, null, [404]);
    return answer.status === 404 ? null : (JSON.parse(answer.text) as T);
  }

  /** Answers with the id of what was made; null where it is there already, or Keycloak names none. */
  async post(path: string, body: unknown): Promise<string | null> {
    const answer = await this.#send("POST", path, json(body), [409]);
    if (answer.status === 409) return null;
    return answer.headers.get("location")?.split("/").at(-1) ?? null;
  }

  /** A file with fields beside it, as a browser's form sends them. Answers with what Keycloak makes of it. */
  async upload<T>(path: string, fields: Record<string, string>, file: string): Promise<T> {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("file", new Blob([file]), "file");
    const whole = new Request("https://form/", { method: "POST", body: form });
    const type = whole.headers.get("content-type") ?? "";
    const answer = await this.#send("POST", path, { type, text: await whole.text() });
    return JSON.parse(answer.text) as T;
  }

  async put(path: string, body: unknown): Promise<void> {
    await this.#send("PUT", path, json(body));
  }

  /** 404 is fine: it is gone already. */
  async delete(path: string, body?: unknown): Promise<void> {
    await this.#send("DELETE", path, body === undefined ? null : json(body), [404]);
  }

  /**
   * Makes a client by Keycloak's registration service, for which the right to create clients is enough. Answers with the token by which
   * {@link removeRegisteredClient} takes this client away again, and no other.
   */
  async registerClient(realm: string, client: object): Promise<string> {
    const path = registrationPath(realm);
    const answer = await this.#call("POST", path, json(client), []);
    const { registrationAccessToken: token } = JSON.parse(answer.text) as Record<string, unknown>;
    if (typeof token !== "string")
      throw new KeycloakRefusedError("POST", path, answer.status, "no registration token");
    return token;
  }

  /** A token knows the rights of its own time: who makes a realm has rights in it by the next one. */
  async renew(): Promise<void> {
    const token = await this.#ask();
    if (token === null) throw new KeycloakRefusedError("POST", "token", 401, "no token any more");
    this.#token = token;
  }

  async #send(
    method: string,
    path: string,
    body: Body | null = null,
    fine: readonly number[] = [],
  ): Promise<KeycloakAnswer> {
    return await this.#call(method, `${REALMS}${path}`, body, fine);
  }

  /** @param path whole */
  async #call(
    method: string,
    path: string,
    body: Body | null,
    fine: readonly number[],
  ): Promise<KeycloakAnswer> {
    if (this.#token.expiresAt <= Date.now()) await this.renew();
    const answer = await askKeycloak(this.#address, path, {
      method,
      headers: {
        authorization: `Bearer ${this.#token.value}`,
        accept: "application/json",
        ...(body === null ? {} : { "content-type": body.type }),
      },
      body: body?.text ?? null,
      ...(method === "POST" && path === REALMS ? { timeoutMs: REALM_TIMEOUT_MS } : {}),
    });
    if (answer.status >= 300 && !fine.includes(answer.status))
      throw new KeycloakRefusedError(method, path, answer.status, answer.text);
    return answer;
  }
}

/** Whoever has the client's own token needs no other right. False where Keycloak does not know client or token any more. */
export async function removeRegisteredClient(
  address: KeycloakAddress,
  realm: string,
  clientId: string,
  registrationToken: string,
): Promise<boolean> {
  const path = `${registrationPath(realm)}/${encodeURIComponent(clientId)}`;
  const { status, text } = await askKeycloak(address, path, {
    method: "DELETE",
    headers: { authorization: `Bearer ${registrationToken}` },
    body: null,
  });
  if (status === 204) return true;
  if (status === 401 || status === 403 || status === 404) return false;
  throw new KeycloakRefusedError("DELETE", path, status, text);
}

function registrationPath(realm: string): string {
  return `/realms/${realm}/clients-registrations/default`;
}

function json(body: unknown): Body {
  return { type: "application/json", text: JSON.stringify(body) };
}

async function fetchToken(
  address: KeycloakAddress,
  realm: string,
  form: Record<string, string>,
): Promise<Token | null> {
  const path = `/realms/${realm}/protocol/openid-connect/token`;
  const answer = await askKeycloak(address, path, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(form).toString(),
  });
  if (answer.status === 400 || answer.status === 401) return null;
  if (answer.status !== 200)
    throw new KeycloakRefusedError("POST", path, answer.status, answer.text);
  const value = JSON.parse(answer.text) as { access_token?: unknown; expires_in?: unknown };
  if (typeof value.access_token !== "string" || typeof value.expires_in !== "number")
    throw new KeycloakRefusedError("POST", path, answer.status, "no access token");
  return {
    value: value.access_token,
    expiresAt: Date.now() + value.expires_in * 1000 - SPARE_MS,
  };
}
