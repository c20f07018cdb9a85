/** `etc/identity.json` and the certificates beside it: what the customer connected to sign people in. Root's; no secret is in it. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { type Connection, IdentityConnections } from "@resontech/contracts/identity-connections";
import { readable, reader } from "@resontech/contracts/readable";
import { Value } from "typebox/value";
import type { Layout } from "@resontech/frame/layout";
import { ConfigInvalidError } from "./load-config.ts";
import { ROOT, writeOwned } from "./owned-file.ts";

/** A field of a newer release is passed over. */
const readFile = reader(IdentityConnections);
const CERTIFICATE = /^[a-z][a-z0-9-]{0,30}\.crt$/;

/** Nothing is connected where there is no file. @throws ConfigInvalidError */
export function readConnections({ identityFile }: Layout): IdentityConnections {
  let text: string;
  try {
    text = readFileSync(identityFile, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      return { connections: [], known: {} };
    throw error;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ConfigInvalidError(`${identityFile} is no JSON`, { cause: error });
  }
  const read = readFile(value);
  if (read === null) {
    const [fault] = Value.Errors(readable(IdentityConnections), value);
    throw new ConfigInvalidError(`${identityFile}: ${fault?.instancePath} ${fault?.message}`);
  }
  return read;
}

/** Adds it, or puts it in the place of the one of its name. */
export function writeConnection(layout: Layout, connection: Connection): void {
  const { connections, known } = readConnections(layout);
  write(layout, {
    connections: [...connections.filter(({ name }) => name !== connection.name), connection],
    known: { ...known, [connection.name]: issuerOf(connection) },
  });
}

/** Its name stays known. */
export function forgetConnection(layout: Layout, name: string): void {
  const { connections, known } = readConnections(layout);
  write(layout, { connections: connections.filter((one) => one.name !== name), known });
  rmSync(layout.directoryCa(`${name}.crt`), { force: true });
}

/** People are known by a connection's name and their id there: whose ids they are. An LDAP directory's are unlike those of any other. */
export function issuerOf(connection: Connection): string {
  switch (connection.kind) {
    case "ldap":
      return "ldap";
    case "oidc":
      return `oidc ${connection.provider["issuer"] ?? ""}`;
    case "saml":
      return `saml ${connection.provider["idpEntityId"] ?? ""}`;
  }
}

/** PEM of who vouches for this connection; null where nobody was named. */
export function directoryCa(layout: Layout, name: string): string | null {
  return directoryCas(layout).includes(`${name}.crt`)
    ? readFileSync(layout.directoryCa(`${name}.crt`), "utf8")
    : null;
}

/** Names of files. */
export function directoryCas(layout: Layout): string[] {
  return readdirSync(layout.directoryCa())
    .filter((name) => CERTIFICATE.test(name))
    .toSorted();
}

/** Keycloak trusts it from its next start on. False where it was there already. */
export function writeDirectoryCa(layout: Layout, name: string, pem: string): boolean {
  if (directoryCa(layout, name) === pem) return false;
  writeOwned(layout.directoryCa(`${name}.crt`), pem, ROOT, 0o644);
  return true;
}

function write({ identityFile }: Layout, value: IdentityConnections): void {
  writeOwned(identityFile, `${JSON.stringify(value, null, 2)}\n`, ROOT, 0o600);
}
