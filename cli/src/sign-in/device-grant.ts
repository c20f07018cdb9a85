/** Signing in from a shell: the person confirms a code in a browser (RFC 8628), and the shell keeps rotating tokens. */
import * as openid from "openid-client";
import { type Appliance, asCliError, clientConfig } from "./keycloak-client.ts";
import type { KeptSession } from "./kept-session.ts";

const CLIENT = "resontech-cli";

/** What the person does in a browser. */
export type Prompt = { url: string; code: string };

/** @property acr level of the sign-in: 2 with a second factor */
export type ShellSignIn = { session: KeptSession; acr: string };

/** @param show called once with what to open @throws CliError */
export async function signIn(
  appliance: Appliance,
  show: (prompt: Prompt) => void,
): Promise<ShellSignIn> {
  const config = clientConfig(appliance, CLIENT, openid.None());
  const verifier = openid.randomPKCECodeVerifier();
  return await asCliError(appliance, async () => {
    const asked = await openid.initiateDeviceAuthorization(config, {
      scope: "openid",
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    show({ url: asked.verification_uri_complete ?? asked.verification_uri, code: asked.user_code });
    const tokens = await openid.pollDeviceAuthorizationGrant(config, asked, {
      code_verifier: verifier,
    });
    const acr = tokens.claims()?.["acr"];
    return {
      session: sessionOf(appliance, tokens, null),
      acr: typeof acr === "string" ? acr : "0",
    };
  });
}

/** @throws CliError `signed_out` where the session is over */
export async function refresh(appliance: Appliance, session: KeptSession): Promise<KeptSession> {
  const config = clientConfig(appliance, CLIENT, openid.None());
  return await asCliError(appliance, async () =>
    sessionOf(appliance, await openid.refreshTokenGrant(config, session.refreshToken), session),
  );
}

/** Ends the session at Keycloak; one that is over already is fine. */
export async function revoke(appliance: Appliance, session: KeptSession): Promise<void> {
  const config = clientConfig(appliance, CLIENT, openid.None());
  await asCliError(appliance, () => openid.tokenRevocation(config, session.refreshToken));
}

function sessionOf(
  { baseUrl }: Appliance,
  tokens: Awaited<ReturnType<typeof openid.refreshTokenGrant>>,
  before: KeptSession | null,
): KeptSession {
  const name = tokens.claims()?.["preferred_username"];
  return {
    baseUrl: baseUrl.href,
    username: typeof name === "string" ? name : (before?.username ?? ""),
    accessToken: tokens.access_token,
    expiresAt: Date.now() + (tokens.expires_in ?? 0) * 1000,
    refreshToken: tokens.refresh_token ?? before?.refreshToken ?? "",
  };
}
