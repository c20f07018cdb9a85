/**
 * Keycloak's first start needs an administrator with a password. This puts the appliance's own client in its place, which signs with a key,
 * and deletes the temporary one. Safe to repeat from any point.
 */
import { createPublicKey } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { ROOT, writeOwned } from "../config/owned-file.ts";
import { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { BOOTSTRAP_USERNAME, BOOTSTRAPPED_FILE } from "@resontech/keycloak/part";
import type { PartContext } from "../parts/context.ts";
import { applianceAdmin, APPLIANCE_CLIENT, keycloakAddress } from "./appliance-admin.ts";

/** Nobody but the appliance administers Keycloak. */
export async function replaceBootstrapAdmin(context: PartContext): Promise<void> {
  const { layout } = context;
  // While it is missing, Keycloak is started with its temporary administrator.
  const marker = layout.secrets("appliance", BOOTSTRAPPED_FILE);
  if (existsSync(marker)) return;
  const passwordFile = layout.secrets("keycloak", "bootstrap-password");
  const keyPem = readFileSync(layout.secrets("appliance", "keycloak-admin.key"), "utf8");

  const bootstrap = await KeycloakAdmin.asBootstrap(
    keycloakAddress(context),
    BOOTSTRAP_USERNAME,
    readFileSync(passwordFile, "utf8"),
  );
  if (bootstrap !== null) await makeOwnClient(bootstrap, keyPem);
  const own = await applianceAdmin(context);
  for (const { id } of await own.get<{ id: string }[]>(
    `/master/users?exact=true&username=${BOOTSTRAP_USERNAME}`,
  ))
    await own.delete(`/master/users/${id}`);
  writeOwned(marker, "", ROOT, 0o400);
  rmSync(passwordFile, { force: true });
}

async function makeOwnClient(admin: KeycloakAdmin, keyPem: string): Promise<void> {
  const key = {
    ...createPublicKey(keyPem).export({ format: "jwk" }),
    kid: APPLIANCE_CLIENT,
    alg: "ES256",
    use: "sig",
  };
  await admin.post("/master/clients", {
    clientId: APPLIANCE_CLIENT,
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
  const [client] = await admin.get<{ id: string }[]>(
    `/master/clients?clientId=${APPLIANCE_CLIENT}`,
  );
  if (client === undefined)
    throw new Error(`keycloak has no client ${APPLIANCE_CLIENT} after making it`);
  const user = await admin.get<{ id: string }>(`/master/clients/${client.id}/service-account-user`);
  const role: unknown = await admin.get("/master/roles/admin");
  await admin.post(`/master/users/${user.id}/role-mappings/realm`, [role]);
}
