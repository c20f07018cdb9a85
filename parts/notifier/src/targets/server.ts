/** What every kind of target needs to dial its server. */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import type { AlertTarget } from "../alert-targets.ts";
import type { ConnectionOptions } from "node:tls";
import { DeliveryError } from "../delivery-error.ts";

export type ServerFiles = { secretsDir: string; rootCertFile: string };

/** Longest wait for a server to take a message. */
export const DELIVERY_MS = 20_000;

/** Certificates are checked by the name that the operator wrote, whatever address was dialled. */
export function tlsOf(
  host: string,
  { caFile }: Pick<AlertTarget, "caFile">,
  { secretsDir, rootCertFile }: ServerFiles,
): Pick<ConnectionOptions, "ca" | "servername" | "minVersion"> {
  return {
    ca: readFileSync(caFile === undefined ? rootCertFile : join(secretsDir, caFile)),
    minVersion: "TLSv1.2",
    ...(isIP(host) === 0 ? { servername: host } : {}),
  };
}

/** @throws DeliveryError secret_missing */
export function secretOf({ name }: AlertTarget, { secretsDir }: ServerFiles): string {
  try {
    const secret = readFileSync(join(secretsDir, `${name}.secret`), "utf8").trim();
    if (secret !== "") return secret;
  } catch {
    // The same answer as for an empty one.
  }
  throw new DeliveryError("secret_missing", `the secret of ${name} is not there`);
}
