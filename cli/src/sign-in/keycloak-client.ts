/** The appliance's Keycloak as `openid-client` asks it, over the CLI's own requests. */
import * as openid from "openid-client";
import { CliError } from "../cli-error.ts";
import { sendRequest } from "../send-request.ts";

const REALM = "resontech";

/** @param ca PEM of whom to trust; null: whom Node trusts */
export type Appliance = { baseUrl: URL; ca: string | null };

/** @param auth how the client shows who it is */
export function clientConfig(
  { baseUrl, ca }: Appliance,
  clientId: string,
  auth: openid.ClientAuth,
): openid.Configuration {
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
    clientId,
    { id_token_signed_response_alg: "ES256" },
    auth,
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

/** What Keycloak refused, in the words of a shell. @throws CliError */
export async function asCliError<T>({ baseUrl }: Appliance, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const known = error instanceof CliError ? error : causeOf(error);
    if (known !== null) throw known;
    const code = error instanceof openid.ResponseBodyError ? error.error : "";
    if (code === "invalid_grant")
      throw new CliError("signed_out", "the sign-in is over", "Sign in again: resontech login.");
    if (code === "invalid_client")
      throw new CliError(
        "service_account_over",
        "the appliance does not know the service account or its key: it was revoked, or has expired",
        "A project lead makes a new one: resontech service-accounts create.",
      );
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
