/** Whether a server of the customer's answers, under a certificate that is trusted; in words where it does not. */
import { connect, rootCertificates, type TLSSocket } from "node:tls";
import { request } from "node:https";
import { type Check, right, wrong } from "./check.ts";

const TIMEOUT_MS = 8_000;
const MAX_BYTES = 2 * 1024 * 1024;

export type Reached = { status: number; text: string; date: string | null };

/** @param caPem of the customer's authority, trusted beside those that every program trusts; null: those alone */
export async function reach(host: string, port: number, caPem: string | null): Promise<Check> {
  const what = `${host}:${port} answers with a trusted certificate`;
  try {
    (await secure(host, port, caPem)).destroy();
    return right(what);
  } catch (error) {
    return wrong(what, ...inWords(error, host, port));
  }
}

/** @throws Error as Node has it: {@link inWords} says what it means */
export async function download(url: URL, caPem: string | null): Promise<Reached> {
  return await new Promise((resolve, reject) => {
    const sent = request(
      url,
      { ca: trusted(caPem), signal: AbortSignal.timeout(TIMEOUT_MS), agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MAX_BYTES) sent.destroy(new Error("the answer is too long"));
          else chunks.push(chunk);
        });
        response.once("error", reject);
        response.once("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(chunks).toString("utf8"),
            date: response.headers.date ?? null,
          }),
        );
      },
    );
    sent.once("error", reject);
    sent.end();
  });
}

/** What is wrong, and what to do. */
export function inWords(error: unknown, host: string, port: number): [string, string] {
  const code =
    error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  const at = `${host}:${port}`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return [
      `the name ${host} is unknown here`,
      "correct the name, or add it to the DNS or to /etc/hosts",
    ];
  if (code === "ECONNREFUSED")
    return [`nothing listens at ${at}`, "correct the port; look that the server runs"];
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return [
      `the certificate at ${at} is not for the name ${host}`,
      "use the name that the certificate has",
    ];
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID")
    return [`the certificate at ${at} is not valid today`, "renew it there; compare the clocks"];
  if (/CERT|ISSUER|SELF_SIGNED|CHAIN/.test(code))
    return [
      `nobody who is trusted here vouches for the certificate at ${at}`,
      "give the PEM of the authority that signed it: --ca FILE",
    ];
  if (/SSL|EPROTO|ECONNRESET/.test(code))
    return [`${at} does not speak TLS`, "use the server's port for TLS, 636 for LDAP"];
  return [`${at} does not answer`, "look at firewalls between the appliance and the server"];
}

/** @param caPem of the customer; null: none */
export function trusted(caPem: string | null): string[] {
  return caPem === null ? [...rootCertificates] : [...rootCertificates, caPem];
}

async function secure(host: string, port: number, caPem: string | null): Promise<TLSSocket> {
  const socket = connect({
    ...{ host, port, ca: trusted(caPem) },
    ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
  });
  return await new Promise((resolve, reject) => {
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error("timeout")));
    socket.once("error", reject);
    socket.once("secureConnect", () => resolve(socket));
  });
}
