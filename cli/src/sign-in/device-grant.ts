/** Signing in from a shell: the person confirms a code in a browser (RFC 8628), and the shell keeps rotating tokens. */
import * as openid from "openid-client";
import { CliError } from "../cli-error.ts";
import { sendRequest } from "../send-request.ts";
import type { KeptSession } from "./kept-session.ts";

const CLIENT = "resontech-cli";
const REALM = "resontech";

/** @param ca PEM of whom to trust; null: whom Node trusts */
export type Appliance = { baseUrl: URL; ca: string | null };

/** What the person does in a browser. */
export type Prompt = { url: string; code: string };

/** @property acr level of the sign-in: 2 with a second factor */
export type ShellSignIn = { session: KeptSession; acr: string };

/** @param show called once with what to open @throws CliError */
export async function signIn(
  appliance: Appliance,
  show: (prompt: Prompt) => void,
): Promise<ShellSignIn> {
  const config = configOf(appliance);
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
  const config = configOf(appliance);
  return await asCliError(appliance, async () =>
    sessionOf(appliance, await openid.refreshTokenGrant(config, session.refreshToken), session),
  );
}

/** Ends the session at Keycloak; one that is over already is fine. */
export async function revoke(appliance: Appliance, session: KeptSession): Promise<void> {
  const config = configOf(appliance);
  await asCliError(appliance, () => openid.tokenRevocation(config, session.refreshToken));
}

function configOf({ baseUrl, ca }: Appliance): openid.Configuration {
  const issuer = new URL(`/realms/${REALM}`, baseUrl).href;
  const protocol = `${issuer}/protocol/openid-connect`;
  const config = new openid.Configuration(
    {
      issuer,
      token_endpoint: `${protocol}/token`,
      device_authorization_endpoint: `${protocol}/auth/device`,
      revocation_endpoint: `${protocol}/revoke`,
      jwks_uri: `${protocol}/certs`,
      id_token_signing_alg_values_supported: ["ES256"],
    },
    CLIENT,
    { id_token_signed_response_alg: "ES256" },
    openid.None(),
  );
  config[openid.customFetch] = async (url, { method, headers, body }) => {
    const {
      status,
      headers: answered,
      text,
    } = await sendRequest(
      { method, url: new URL(url), headers, ca },
      body === undefined || body === null ? null : (body as URLSearchParams).toString(),
    );
    return new Response(text, { status, headers: answered });
  };
  openid.enableNonRepudiationChecks(config);
  return config;
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

async function asCliError<T>({ baseUrl }: Appliance, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const known = error instanceof CliError ? error : causeOf(error);
    if (known !== null) throw known;
    const code = error instanceof openid.ResponseBodyError ? error.error : "";
    if (code === "invalid_grant")
      throw new CliError("signed_out", "the sign-in is over", "Sign in again: resontech login.");
    if (code === "access_denied")
      throw new CliError("access_denied", "the sign-in was refused in the browser", "Begin again.");
    if (code === "expired_token")
      throw new CliError("sign_in_expired", "nobody confirmed the code in time", "Begin again.");
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(
      "sign_in_failed",
      `${baseUrl.origin} did not sign you in: ${why}`,
      "Look at the page again, or ask the operator whether Keycloak runs.",
    );
  }
}

function causeOf(error: unknown): CliError | null {
  return error instanceof Error && error.cause instanceof CliError ? error.cause : null;
}
