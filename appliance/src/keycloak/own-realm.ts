import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { type RealmDefinition, realmDefinition } from "@resontech/keycloak/realm-definition";
import type { PartContext } from "../parts/context.ts";
import { readConnections } from "../config/connections.ts";
import { keycloakAddress } from "./appliance-admin.ts";

/** Programs that are clients of the realm: name in the realm's file → client and file of its key. */
export const REALM_CLIENTS = {
  dashboard: { clientId: "resontech-dashboard", keyFile: "dashboard-client.key" },
  coordinator: { clientId: "resontech-coordinator", keyFile: "keycloak-client.key" },
} as const;

/** The realm that the release has, with this appliance's address and keys, and what the customer connected. @throws RealmFileError, ConfigInvalidError */
export function ownRealm(context: PartContext): RealmDefinition {
  const { layout } = context;
  const jwks = Object.entries(REALM_CLIENTS).map(([name, { clientId, keyFile }]) => {
    const key = createPublicKey(readFileSync(layout.secrets("coordinator", keyFile)));
    const jwk = { ...key.export({ format: "jwk" }), kid: clientId, alg: "ES256", use: "sig" };
    return [name, JSON.stringify({ keys: [jwk] })] as const;
  });
  return realmDefinition(
    readFileSync(layout.release("app", "policies", "realm.json"), "utf8"),
    { origin: keycloakAddress(context).origin, jwks: Object.fromEntries(jwks) },
    readConnections(layout).connections,
  );
}
