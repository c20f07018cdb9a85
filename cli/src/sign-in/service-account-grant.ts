/** A service account signs in by its key: `private_key_jwt` (RFC 7523), client credentials. */
import { createPrivateKey } from "node:crypto";
import * as openid from "openid-client";
import { CliError } from "../cli-error.ts";
import type { AccountFile } from "../service-accounts/account-file.ts";
import { type Appliance, asCliError, clientConfig } from "./keycloak-client.ts";
import type { KeptSession } from "./kept-session.ts";

/** @param file where the account lies: the session is renewed from there @throws CliError */
export async function signInByKey(
  appliance: Appliance,
  account: AccountFile,
  file: string,
): Promise<KeptSession> {
  const { clientId, privateKey } = account;
  const key = await importKey(privateKey, file);
  const config = clientConfig(appliance, clientId, openid.PrivateKeyJwt({ key, kid: clientId }));
  const tokens = await asCliError(appliance, () => openid.clientCredentialsGrant(config));
  return {
    ...{ baseUrl: appliance.baseUrl.href, username: account.name, serviceAccount: file },
    ...{ accessToken: tokens.access_token, refreshToken: "" },
    expiresAt: Date.now() + (tokens.expires_in ?? 0) * 1000,
  };
}

async function importKey(pem: string, file: string): Promise<CryptoKey> {
  try {
    const der = createPrivateKey(pem).export({ type: "pkcs8", format: "der" });
    const curve = { name: "ECDSA", namedCurve: "P-256" };
    return await crypto.subtle.importKey("pkcs8", der, curve, false, ["sign"]);
  } catch {
    throw new CliError(
      "account_file_invalid",
      `${file} holds no P-256 key`,
      "Make a new service account: resontech service-accounts create.",
    );
  }
}
