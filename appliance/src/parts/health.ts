import { readFileSync } from "node:fs";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request } from "node:https";
import { connect } from "node:net";
import type { TLSSocket } from "node:tls";

/** To be accepted proves no life: the kernel does it for a program that is stopped as well. */
const ANSWER_MS = 2_000;
/** For the whole of an answer. */
const GET_MS = 3_000;
const MAX_ANSWER_CHARS = 65_536;

/** The first bytes that the program at the address says, to `question` or by itself; null when none came. */
export async function firstBytes(
  host: string,
  port: number,
  question?: Uint8Array,
): Promise<Buffer | null> {
  return await new Promise((resolve) => {
    const socket = connect({ host, port, timeout: ANSWER_MS });
    const give = (value: Buffer | null): void => {
      socket.destroy();
      resolve(value);
    };
    socket
      .once("data", give)
      .once("close", () => give(null))
      .once("error", () => give(null))
      .once("timeout", () => give(null));
    if (question !== undefined) socket.write(question);
  });
}

/** Tells whether the program behind the Unix socket ends its side of a connection once we have ended ours. */
export async function closesConnection(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect({ path, timeout: ANSWER_MS });
    const give = (value: boolean): void => {
      socket.destroy();
      resolve(value);
    };
    socket
      .once("end", () => give(true))
      .once("error", () => give(false))
      .once("timeout", () => give(false));
    socket.resume().end();
  });
}

/** Status of `GET path` over a Unix socket; null when there was no answer. */
export async function unixHttpStatus(
  socketPath: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number | null> {
  return await new Promise((resolve) => {
    const asked = httpRequest(
      {
        socketPath,
        path,
        headers: { host: "localhost", ...headers },
        timeout: 3_000,
        agent: false,
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? null);
      },
    );
    asked.once("error", () => resolve(null)).once("timeout", () => asked.destroy());
    asked.end();
  });
}

/** @property fingerprint SHA-256 of the certificate that was shown, in the form of node:crypto */
export type HttpsAnswer = { status: number; body: string; fingerprint: string };

/** Answer to `GET path` under TLS that our root must vouch for; null when none came. */
export async function httpsGet(target: {
  host: string;
  port: number;
  path: string;
  servername: string;
  caFile: string;
  /** What it is shown where it asks who we are. */
  client?: { cert: Buffer; key: Buffer };
}): Promise<HttpsAnswer | null> {
  return await new Promise((resolve) => {
    const asked = request(
      {
        host: target.host,
        port: target.port,
        path: target.path,
        servername: target.servername,
        headers: { host: `${target.servername}:${target.port}` },
        ca: readFileSync(target.caFile),
        ...target.client,
        signal: AbortSignal.timeout(GET_MS),
        agent: false,
      },
      (response) => {
        const { fingerprint256: fingerprint } = (response.socket as TLSSocket).getPeerCertificate();
        readText(response).then(
          (body) => resolve({ status: response.statusCode ?? 0, body, fingerprint }),
          () => resolve(null),
        );
      },
    );
    asked.once("error", () => resolve(null));
    asked.end();
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) {
    text += chunk;
    if (text.length > MAX_ANSWER_CHARS) throw new Error("a longer answer than any part gives");
  }
  return text;
}
