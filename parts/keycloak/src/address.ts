/** Where Keycloak listens, and the way there: a loopback port under TLS that the appliance's own root vouches for. */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";

const TIMEOUT_MS = 15_000;
/** For a realm Keycloak makes keys, roles and clients: on a busy machine that takes longer than anything else that is asked. */
export const REALM_TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Of this process; a TLS handshake for each request would cost more than the request. */
const connections = new Agent({ keepAlive: true, maxSockets: 8 });

export type KeycloakAddress = {
  /** Of 127.0.0.1. */
  port: number;
  /** What people and programs call it by, through the front door: `https://<name>:<port>`. Issuers begin with it. */
  origin: string;
  /** PEM of the certificate that vouches for it. */
  caPem: string;
  /** The certificate that it asks whoever comes for, of the appliance's own root: files of PEM. They are read for each request, as they are renewed. */
  client: { certFile: string; keyFile: string };
};

export type KeycloakRequest = {
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
  timeoutMs?: number;
};

export type KeycloakAnswer = { status: number; headers: Headers; text: string };

/** Keycloak gave no answer: it is away, too slow, or says too much. */
export class KeycloakUnreachableError extends Error {
  override readonly name = "KeycloakUnreachableError";
  readonly code = "identity_unavailable";
}

/** One request. @param path with query @throws KeycloakUnreachableError */
export async function askKeycloak(
  address: KeycloakAddress,
  path: string,
  asked: KeycloakRequest,
): Promise<KeycloakAnswer> {
  const { port, origin, caPem, client } = address;
  const { method, headers, body, timeoutMs = TIMEOUT_MS } = asked;
  const { hostname, host } = new URL(origin);
  return await new Promise((resolve, reject) => {
    const fail = (cause: Error) => {
      // Keycloak ended a kept connection just as it was used again: nothing of the request was read.
      if (sent.reusedSocket && "code" in cause && cause.code === "ECONNRESET")
        resolve(askKeycloak(address, path, asked));
      else
        reject(
          new KeycloakUnreachableError(`Keycloak did not answer ${method} ${path}`, { cause }),
        );
    };
    const sent = request(
      {
        ...{ host: "127.0.0.1", port, path, method, ca: caPem, agent: connections },
        ...{ cert: readFileSync(client.certFile), key: readFileSync(client.keyFile) },
        ...(/^[\d.]+$|:/.test(hostname) ? {} : { servername: hostname }),
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          ...headers,
          // Its URLs are the front door's, whichever way a request comes.
          host,
          ...(body === null ? {} : { "content-length": String(Buffer.byteLength(body)) }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MAX_ANSWER_BYTES) sent.destroy(new Error("the answer is too long"));
          else chunks.push(chunk);
        });
        response.once("error", fail);
        response.once("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: headersOf(response.rawHeaders),
            text: Buffer.concat(chunks).toString("utf8"),
          }),
        );
      },
    );
    sent.once("error", fail);
    sent.end(body ?? undefined);
  });
}

/**
 * `fetch` for libraries that know Keycloak by its public address: each request takes the loopback way instead. An answer of 5xx is none: a Keycloak that
 * starts, or whose database is away, has judged nothing, and such a library would take it for a refusal.
 */
export function keycloakFetch(address: KeycloakAddress) {
  return async (
    url: string,
    init: { method?: string; headers?: Record<string, string>; body?: unknown },
  ): Promise<Response> => {
    const { origin, pathname, search } = new URL(url);
    if (origin !== address.origin)
      throw new KeycloakUnreachableError(`${origin} is not the address of this Keycloak`);
    const { body } = init;
    const { status, headers, text } = await askKeycloak(address, `${pathname}${search}`, {
      method: init.method ?? "GET",
      headers: init.headers ?? {},
      body:
        body === undefined || body === null
          ? null
          : typeof body === "string"
            ? body
            : (body as URLSearchParams).toString(),
    });
    if (status >= 500)
      throw new KeycloakUnreachableError(`Keycloak answered ${status} to ${pathname}`);
    return new Response(status === 204 || status === 304 ? null : text, { status, headers });
  };
}

/** Names of headers and values alternate in `raw`. */
function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < raw.length; at += 2) headers.append(raw[at] ?? "", raw[at + 1] ?? "");
  return headers;
}
