import type { RunningKeycloak } from "@resontech/house/running-keycloak";

/** The secret of the appliance's OIDC client there. */
export const PROVIDER_SECRET = "secret-of-the-test";
/** The OIDC client that the appliance is there. */
export const PROVIDER_CLIENT = "resontech";

export type ApplianceRealm = {
  /** What browsers call the appliance by. */
  origin: string;
  realm: string;
  /** Names of the connections there. */
  oidc: string;
  saml: string;
};

/** Makes a Keycloak the customer's own: people in one group, and an appliance as a client by OIDC and by SAML. */
export async function prepareProvider(
  { admin }: RunningKeycloak,
  { origin, realm, oidc, saml }: ApplianceRealm,
  people: readonly { username: string; password: string }[],
): Promise<void> {
  const broker = `${origin}/realms/${realm}/broker`;
  const group = await admin.post("/master/groups", { name: "staff" });
  for (const { username, password } of people) {
    const id = await admin.post("/master/users", {
      ...{ username, enabled: true, email: `${username}@hospital.test`, emailVerified: true },
      ...{ firstName: "A", lastName: "B" },
      credentials: [{ type: "password", value: password, temporary: false }],
    });
    await admin.put(`/master/users/${id}/groups/${group}`, {});
  }
  await admin.post("/master/clients", {
    ...{ clientId: PROVIDER_CLIENT, enabled: true, secret: PROVIDER_SECRET },
    redirectUris: [`${broker}/${oidc}/endpoint`],
    attributes: {
      "backchannel.logout.url": `${origin}/realms/${realm}/protocol/openid-connect/logout/backchannel-logout`,
      "backchannel.logout.session.required": "true",
    },
    protocolMappers: [
      {
        ...{ name: "groups", protocol: "openid-connect" },
        protocolMapper: "oidc-group-membership-mapper",
        config: { "claim.name": "groups", "full.path": "false", "id.token.claim": "true" },
      },
    ],
  });
  await admin.post("/master/clients", {
    ...{ clientId: `${origin}/realms/${realm}`, protocol: "saml", enabled: true },
    redirectUris: [`${broker}/${saml}/endpoint`],
    attributes: {
      ...{ "saml.assertion.signature": "true", "saml.server.signature": "true" },
      ...{ "saml.client.signature": "false", saml_name_id_format: "persistent" },
      "saml.force.post.binding": "true",
      saml_assertion_consumer_url_post: `${broker}/${saml}/endpoint`,
    },
    protocolMappers: [
      {
        ...{ name: "uid", protocol: "saml", protocolMapper: "saml-user-property-mapper" },
        config: {
          ...{ "user.attribute": "username", "attribute.name": "uid" },
          "attribute.nameformat": "Basic",
        },
      },
    ],
  });
}
