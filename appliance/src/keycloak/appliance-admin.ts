/** The appliance itself as Keycloak's administrator: it signs with a key that root alone reads. */
import { readFileSync } from "node:fs";
import type { KeycloakAddress } from "@resontech/keycloak/address";
import { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { KEYCLOAK_CLIENT } from "@resontech/keycloak/part";
import type { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../parts/context.ts";

export const APPLIANCE_CLIENT = "resontech-appliance";

export function keycloakAddress({ config, layout }: PartContext): KeycloakAddress {
  return {
    port: config.ports.keycloak,
    origin: `https://${config.name}:${config.ports.api}`,
    caPem: readFileSync(layout.rootCert, "utf8"),
    client: keycloakClient(layout),
  };
}

/** The certificate that the appliance's own programs show Keycloak: root's. */
export function keycloakClient(layout: Layout): { certFile: string; keyFile: string } {
  const file = (ending: string): string =>
    layout.secrets("appliance", `${KEYCLOAK_CLIENT}.${ending}`);
  return { certFile: file("crt"), keyFile: file("key") };
}

/** @throws KeycloakUnreachableError, or Error where Keycloak does not know the appliance's key */
export async function applianceAdmin(context: PartContext): Promise<KeycloakAdmin> {
  const keyPem = readFileSync(context.layout.secrets("appliance", "keycloak-admin.key"), "utf8");
  const admin = await KeycloakAdmin.asClient(
    keycloakAddress(context),
    "master",
    APPLIANCE_CLIENT,
    keyPem,
  );
  if (admin === null) throw new Error("keycloak does not accept the appliance's own key");
  return admin;
}
