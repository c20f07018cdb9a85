/** Keycloak's admin API over its loopback port, under TLS that our own root vouches for. */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { importPKCS8, SignJWT } from "jose";
import type { PartContext } from "../parts/context.ts";

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const ASSERTION_LIFE_S = 30;

/** Keycloak did not do what it was asked; `status` is its own. */
export class KeycloakRefusedError extends Error {
  readonly code = "keycloak_refused";
  readonly status: number;

  constructor(method: string, path: string, status: number, answer: string) {
    super(`keycloak answered ${status} to ${method} ${path}: ${answer.slice(0, 300)}`);
    this.status = status;
  }
}

type Answer = { status: number; text: string };

/** One identity's view of the admin API. */
export class KeycloakAdmin {
  readonly #context: PartContext;
  readonly #token: string;

  private constructor(context: PartContext, token: string) {
    this.#context = context;
    this.#token = token;
  }

  /** The temporary administrator of the first start; null when there is none, or none any more. */
  static async asBootstrap(
    context: PartContext,
    username: string,
    password: string,
  ): Promise<KeycloakAdmin | null> {
    const token = await fetchToken(context, {
      grant_type: "password",
      client_id: "admin-cli",
      username,
      password,
    });
    return token === null ? null : new KeycloakAdmin(context, token);
  }

  /** The appliance's own client: it signs with a key that root alone reads, so there is no password to keep. */
  static async asAppliance(
    context: PartContext,
    clientId: string,
    keyPem: string,
  ): Promise<KeycloakAdmin | null> {
    const issuer = `https://${context.config.name}:${context.config.ports.api}/realms/master`;
    const assertion = await new SignJWT({})
      .setProtectedHeader({ alg: "ES256", kid: clientId })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(issuer)
      .setJti(crypto.randomUUID())
      .setIssuedAt()
      .setExpirationTime(`${ASSERTION_LIFE_S}s`)
      .sign(await importPKCS8(keyPem, "ES256"));
    const token = await fetchToken(context, {
      grant_type: "client_credentials",
      client_id: clientId,
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: assertion,
    });
    return token === null ? null : new KeycloakAdmin(context, token);
  }

  /** @throws KeycloakRefusedError */
  async get(path: string): Promise<unknown> {
    return JSON.parse((await this.#ask("GET", path)).text) as unknown;
  }

  /** 409 is fine: it is there already. @throws KeycloakRefusedError */
  async post(path: string, body: unknown): Promise<void> {
    await this.#ask("POST", path, body, [409]);
  }

  /** 404 is fine: it is gone already. @throws KeycloakRefusedError */
  async delete(path: string): Promise<void> {
    await this.#ask("DELETE", path, undefined, [404]);
  }

  async #ask(
    method: string,
    path: string,
    body?: unknown,
    fine: readonly number[] = [],
  ): Promise<Answer> {
    const answer = await send(this.#context, method, `/admin/realms${path}`, {
      authorization: `Bearer ${this.#token}`,
      ...(body === undefined ? {} : { json: body }),
    });
    if (answer.status >= 300 && !fine.includes(answer.status))
      throw new KeycloakRefusedError(method, path, answer.status, answer.text);
    return answer;
  }
}

/** Null when the credentials are refused. */
async function fetchToken(
  context: PartContext,
  form: Record<string, string>,
): Promise<string | null> {
  const path = "/realms/master/protocol/openid-connect/token";
  const answer = await send(context, "POST", path, { form });
  if (answer.status === 400 || answer.status === 401) return null;
  if (answer.status !== 200)
    throw new KeycloakRefusedError("POST", path, answer.status, answer.text);
  const value: unknown = JSON.parse(answer.text);
  if (
    typeof value === "object" &&
    value !== null &&
    "access_token" in value &&
    typeof value.access_token === "string"
  )
    return value.access_token;
  throw new KeycloakRefusedError("POST", path, answer.status, "no access token");
}

type Content = { authorization?: string; json?: unknown; form?: Record<string, string> };

async function send(
  { config, layout }: PartContext,
  method: string,
  path: string,
  { authorization, json, form }: Content,
): Promise<Answer> {
  const body =
    form !== undefined
      ? new URLSearchParams(form).toString()
      : json !== undefined
        ? JSON.stringify(json)
        : null;
  return await new Promise((resolve, reject) => {
    const asked = request(
      {
        host: "127.0.0.1",
        port: config.ports.keycloak,
        path,
        method,
        servername: config.name,
        ca: readFileSync(layout.rootCert),
        agent: false,
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          // What the proxy before it will say once there is one: its URLs are the perimeter's.
          host: `${config.name}:${config.ports.api}`,
          ...(authorization === undefined ? {} : { authorization }),
          ...(body === null
            ? {}
            : {
                "content-type":
                  form === undefined ? "application/json" : "application/x-www-form-urlencoded",
                "content-length": Buffer.byteLength(body),
              }),
        },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
          if (text.length > MAX_ANSWER_BYTES)
            asked.destroy(new Error("keycloak's answer is too long"));
        });
        response.once("error", reject);
        response.once("end", () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    asked.once("error", reject);
    asked.end(body ?? undefined);
  });
}
