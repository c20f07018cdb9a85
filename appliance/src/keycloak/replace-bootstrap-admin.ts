/**
 * Keycloak's first start needs an administrator with a password. This puts the appliance's own client in its place, which signs with a key,
 * and deletes the temporary one. Safe to repeat from any point.
 */
import { createPublicKey } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { ROOT, writeOwned } from "../config/owned-file.ts";
import type { PartContext } from "../parts/context.ts";
import { KeycloakAdmin } from "./admin-api.ts";

export const BOOTSTRAP_USERNAME = "bootstrap";
const CLIENT_ID = "resontech-appliance";

/** The realm of the release is in Keycloak, and nobody but the appliance administers it. */
export async function replaceBootstrapAdmin(context: PartContext): Promise<void> {
  const { layout } = context;
  const marker = bootstrappedMarker(context);
  if (existsSync(marker)) return;
  const passwordFile = layout.secrets("keycloak", "bootstrap-password");
  const keyPem = readFileSync(layout.secrets("appliance", "keycloak-admin.key"), "utf8");

  const bootstrap = await KeycloakAdmin.asBootstrap(
    context,
    BOOTSTRAP_USERNAME,
    readFileSync(passwordFile, "utf8"),
  );
  if (bootstrap !== null) await makeOwnClient(bootstrap, keyPem);
  const own = await KeycloakAdmin.asAppliance(context, CLIENT_ID, keyPem);
  if (own === null)
    throw new Error(
      "keycloak accepts neither its temporary administrator nor the appliance's own key",
    );
  await own.get("/resontech");
  for (const { id } of (await own.get(
    `/master/users?exact=true&username=${BOOTSTRAP_USERNAME}`,
  )) as { id: string }[])
    await own.delete(`/master/users/${id}`);
  writeOwned(marker, "", ROOT, 0o400);
  rmSync(passwordFile, { force: true });
}

/** While it is missing, Keycloak is started with its temporary administrator. */
export function bootstrappedMarker({ layout }: PartContext): string {
  return layout.secrets("appliance", "keycloak-bootstrapped");
}

async function makeOwnClient(admin: KeycloakAdmin, keyPem: string): Promise<void> {
  const key = {
    ...createPublicKey(keyPem).export({ format: "jwk" }),
    kid: CLIENT_ID,
    alg: "ES256",
    use: "sig",
  };
  await admin.post("/master/clients", {
    clientId: CLIENT_ID,
    name: "The appliance itself",
    protocol: "openid-connect",
    publicClient: false,
    standardFlowEnabled: false,
    implicitFlowEnabled: false,
    directAccessGrantsEnabled: false,
    serviceAccountsEnabled: true,
    clientAuthenticatorType: "client-jwt",
    attributes: {
      "token.endpoint.auth.signing.alg": "ES256",
      "use.jwks.string": "true",
      "jwks.string": JSON.stringify({ keys: [key] }),
    },
  });
  const [client] = (await admin.get(`/master/clients?clientId=${CLIENT_ID}`)) as { id: string }[];
  if (client === undefined) throw new Error(`keycloak has no client ${CLIENT_ID} after making it`);
  const user = (await admin.get(`/master/clients/${client.id}/service-account-user`)) as {
    id: string;
  };
  const role: unknown = await admin.get("/master/roles/admin");
  await admin.post(`/master/users/${user.id}/role-mappings/realm`, [role]);
}
