/** What a provider's metadata mean for Keycloak: it reads them itself, so that they mean the same when people sign in. */
import { type KeycloakAdmin, KeycloakRefusedError } from "../admin-api.ts";

/** The metadata are no metadata of an identity provider. */
export class MetadataInvalid extends Error {
  override readonly name = "MetadataInvalid";
  readonly code = "metadata_invalid";
  readonly hint =
    "Give the provider's metadata: for OIDC its `.well-known/openid-configuration`, for SAML the XML of the identity provider.";
}

/** What of the answer is kept: nothing that says how statements are checked is the provider's to say. */
const KEPT = {
  oidc: ["issuer", "authorizationUrl", "tokenUrl", "jwksUrl", "logoutUrl"],
  saml: [
    ...["idpEntityId", "singleSignOnServiceUrl", "singleLogoutServiceUrl", "signingCertificate"],
    "postBindingAuthnRequest",
  ],
} as const;
/** Without these nobody can sign in, or nobody knows by whom. */
const NEEDED = {
  oidc: ["issuer", "authorizationUrl", "tokenUrl", "jwksUrl"],
  saml: ["idpEntityId", "singleSignOnServiceUrl", "signingCertificate"],
} as const;

/** @throws MetadataInvalid */
export async function readMetadata(
  admin: KeycloakAdmin,
  realm: string,
  kind: "oidc" | "saml",
  text: string,
): Promise<Record<string, string>> {
  let all: Record<string, unknown>;
  try {
    all = await admin.upload(
      `/${realm}/identity-provider/import-config`,
      { providerId: kind },
      text,
    );
  } catch (error) {
    if (error instanceof KeycloakRefusedError)
      throw new MetadataInvalid(`Keycloak can't read these metadata of ${kind}`, { cause: error });
    throw error;
  }
  const kept = KEPT[kind].flatMap((name) => {
    const value = all[name];
    return typeof value === "string" && value !== "" ? [[name, value] as const] : [];
  });
  const provider: Record<string, string> = Object.fromEntries(kept);
  for (const name of NEEDED[kind])
    if (provider[name] === undefined) throw new MetadataInvalid(`the metadata have no ${name}`);
  for (const [name, value] of kept)
    if (name.endsWith("Url") && !value.startsWith("https://"))
      throw new MetadataInvalid(`${name} of the metadata is no address of https`);
  return provider;
}
