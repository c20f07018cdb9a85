/** Connects a directory of the customer's, changes the connection, or takes it away; each on record. */
import { readDirectories } from "@resontech/keycloak/read-directories";
import type { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { applyDirectory, removeDirectory } from "@resontech/keycloak/apply-directory";
import { directoryOf } from "@resontech/keycloak/directory-form";
import { REALM } from "@resontech/keycloak/realm-definition";
import type { Check } from "@resontech/keycloak/check";
import { tryBroker } from "@resontech/keycloak/try-broker";
import { type Person, tryStorage } from "@resontech/keycloak/try-storage";
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import type { Connection } from "@resontech/contracts/identity-connections";
import { connectOperator, operated } from "../audit/operator-record.ts";
import {
  directoryCa,
  forgetConnection,
  issuerOf,
  readConnections,
  writeConnection,
} from "../config/connections.ts";
import type { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../parts/context.ts";
import { applianceAdmin } from "./appliance-admin.ts";

/** A connection can't be what was asked; `message` says why. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code: "connection_unknown" | "connection_name_taken" | "connection_failed";
  readonly hint: string;

  constructor(code: ConnectionError["code"], message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** @throws ConnectionError connection_unknown */
export function findConnection(layout: Layout, name: string): Connection {
  const { connections } = readConnections(layout);
  const found = connections.find((one) => one.name === name);
  if (found === undefined)
    throw new ConnectionError(
      "connection_unknown",
      `nothing of the name ${name} is connected`,
      connections.length === 0
        ? "Connect it: appliance identity connect --help."
        : `Connected are ${connections.map((one) => one.name).join(", ")}.`,
    );
  return found;
}

/** People are known by name of the connection and id there: another directory's ids must not become theirs. @throws ConnectionError connection_name_taken */
export function requireName(layout: Layout, connection: Connection): void {
  const known = readConnections(layout).known[connection.name];
  if (known !== undefined && known !== issuerOf(connection))
    throw new ConnectionError(
      "connection_name_taken",
      `the name ${connection.name} stood for ${known}, and people are known by it`,
      "Give this connection another name.",
    );
}

/** @param secret null keeps the one that Keycloak has */
export async function connectDirectory(
  context: PartContext,
  connection: Connection,
  secret: string | null,
): Promise<void> {
  const { layout } = context;
  await recorded(context, connection, "connected", async () => {
    requireName(layout, connection);
    // First what is wanted: cut off here, `identity diff` tells of it.
    writeConnection(layout, connection);
    await applyDirectory(await applianceAdmin(context), REALM, directoryOf(connection), secret);
  });
}

export async function disconnectDirectory(context: PartContext, name: string): Promise<void> {
  const { layout } = context;
  const connection = findConnection(layout, name);
  await recorded(context, connection, "disconnected", async () => {
    await removeDirectory(await applianceAdmin(context), REALM, name);
    forgetConnection(layout, name);
  });
}

/** A real try, by what is connected. @param person somebody whose sign-in is tried, in an LDAP directory */
export async function tryConnected(
  context: PartContext,
  name: string,
  person: Person | null,
): Promise<Check[]> {
  const connection = findConnection(context.layout, name);
  return await recorded(context, connection, "tried", async () => {
    const admin = await applianceAdmin(context);
    return await tryConnection(context.layout, admin, connection, { secret: null, person });
  });
}

/** @param secret null: the one that Keycloak has */
export async function tryConnection(
  layout: Layout,
  admin: KeycloakAdmin,
  connection: Connection,
  { secret, person }: { secret: string | null; person: Person | null },
): Promise<Check[]> {
  const caPem = directoryCa(layout, connection.name);
  if (connection.kind !== "ldap") return await tryBroker(connection, caPem);
  const found = (await readDirectories(admin, REALM)).find(({ name }) => name === connection.name);
  return await tryStorage(admin, REALM, connection, {
    storageId: found?.kind === "storage" ? found.id : null,
    ...{ secret, caPem, person },
  });
}

async function recorded<T>(
  context: PartContext,
  { kind, name }: Connection,
  change: EventDetail<"admin.identity.connection">["change"],
  effect: () => Promise<T>,
): Promise<T> {
  await using producer = await connectOperator(context.layout);
  const operation = {
    type: "admin.identity.connection",
    action: "appliance identity",
    object: { kind: "appliance", id: "appliance" },
    detail: { change, kind, name },
  } as const;
  return await operated(producer, [operation], async () => ({ result: await effect() }));
}
