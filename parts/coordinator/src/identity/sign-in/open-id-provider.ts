/**
 * Keycloak as the coordinator signs people in by it: authorization code with PKCE, `state` and `nonce`, a client that signs with a key.
 * Every token's signature is checked against Keycloak's keys. OpenID Connect Core 1.0, RFC 7636, RFC 7523, RFC 9207, Back-Channel Logout 1.0.
 */
import { createPrivateKey } from "node:crypto";
import { type KeycloakAddress, keycloakFetch } from "@resontech/keycloak/address";
import {
  createRemoteJWKSet,
  customFetch as joseFetch,
  errors as joseErrors,
  type JWTVerifyGetKey,
  jwtVerify,
} from "jose";
import * as openid from "openid-client";
import { SERVICE_ACCOUNT_CLIENT_PREFIX } from "@resontech/contracts/http-service-accounts";
import { ApiError } from "../../api-error.ts";
import { API_AUDIENCE } from "../api-audience.ts";

export const DASHBOARD_CLIENT = "resontech-dashboard";
export const CLI_CLIENT = "resontech-cli";
const CLOCK_TOLERANCE_S = 5;
/** A log-out is told within this; an older one was recorded and is sent again. */
const LOGOUT_TOKEN_LIFE_S = 120;
/** As the realm has it. */
const ACCESS_TOKEN_LIFE_S = 300;
/** Of jose, where Keycloak's keys could not be had: it is away, has no realm yet, or says what is no set of keys. Nothing is known of the token. */
const KEYS_UNREAD = ["ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID", "ERR_JOSE_GENERIC"];
/** Of OAuth 2.0: the provider could not judge. RFC 6749, 4.1.2.1. */
const NOT_JUDGED = ["server_error", "temporarily_unavailable"];
const BACK_CHANNEL_EVENT = "http://schemas.openid.net/event/backchannel-logout";

export type SignInRequest = {
  state: string;
  nonce: string;
  verifier: string;
  /** Level of authentication that is asked for; the answer says which one it is. */
  acr: string;
};

/** Of the person whose shell a token is. @property authenticatedAt Unix milliseconds */
export type PersonClaims = {
  kind: "person";
  subject: string;
  sid: string;
  acr: string;
  authenticatedAt: number;
  roles: unknown;
};
/** Of a service account's client. @property subject its own user at Keycloak */
export type ClientClaims = { kind: "client"; clientId: string; subject: string; tokenId: string };

/** What is known of a person who signed in. */
export type SignedIn = {
  subject: string;
  username: string;
  sid: string;
  acr: string;
  roles: unknown;
  groups: GroupClaims;
  tokens: KeptTokens;
};
/** Of Keycloak's own groups, and of those that a provider named at the sign-in; as they stand in the token. */
export type GroupClaims = { paths: unknown; named: unknown };
export type KeptTokens = { refresh: string; id: string };

/** Keycloak, or whoever pretends to be it, did not answer a sign-in as asked: `reason` is a word for the log. */
export class SignInRefused extends Error {
  override readonly name = "SignInRefused";
  readonly reason: string;

  constructor(reason: string, options?: ErrorOptions) {
    super(`the sign-in was refused: ${reason}`, options);
    this.reason = reason;
  }
}

/** Keycloak's session is over, or the person is gone or disabled. */
export class SessionGone extends Error {
  override readonly name = "SessionGone";
}

export type OpenIdProviderOptions = {
  address: KeycloakAddress;
  realm: string;
  /** PKCS #8, P-256. */
  clientKeyPem: string;
};

export class OpenIdProvider {
  readonly #config: openid.Configuration;
  readonly #keys: JWTVerifyGetKey;
  readonly #issuer: string;
  readonly #origin: string;

  private constructor(
    config: openid.Configuration,
    keys: JWTVerifyGetKey,
    issuer: string,
    origin: string,
  ) {
    this.#config = config;
    this.#keys = keys;
    this.#issuer = issuer;
    this.#origin = origin;
  }

  /** Asks nothing: the coordinator starts before Keycloak. */
  static async open({
    address,
    realm,
    clientKeyPem,
  }: OpenIdProviderOptions): Promise<OpenIdProvider> {
    const issuer = `${address.origin}/realms/${realm}`;
    const protocol = `${issuer}/protocol/openid-connect`;
    const fetch = keycloakFetch(address);
    const key = await crypto.subtle.importKey(
      "pkcs8",
      createPrivateKey(clientKeyPem).export({ type: "pkcs8", format: "der" }),
      { name: "ECDSA", namedCurve: "P-256" },
      false,
      ["sign"],
    );
    const config = new openid.Configuration(
      {
        issuer,
        authorization_endpoint: `${protocol}/auth`,
        token_endpoint: `${protocol}/token`,
        end_session_endpoint: `${protocol}/logout`,
        jwks_uri: `${protocol}/certs`,
        id_token_signing_alg_values_supported: ["ES256"],
        authorization_response_iss_parameter_supported: true,
        code_challenge_methods_supported: ["S256"],
      },
      DASHBOARD_CLIENT,
      { id_token_signed_response_alg: "ES256", [openid.clockTolerance]: CLOCK_TOLERANCE_S },
      openid.PrivateKeyJwt({ key, kid: DASHBOARD_CLIENT }),
    );
    config[openid.customFetch] = (url, init) =>
      fetch(url, { method: init.method, headers: init.headers, body: init.body });
    openid.enableNonRepudiationChecks(config);
    const keys = createRemoteJWKSet(new URL(`${protocol}/certs`), {
      [joseFetch]: (url: string, init: { method?: string; headers: Headers }) =>
        fetch(url, { method: "GET", headers: Object.fromEntries(init.headers) }),
    });
    return new OpenIdProvider(config, keys, issuer, address.origin);
  }

  /** @param nonce of what is signed by the sign-in @default a random one */
  static newRequest(acr: string, nonce = openid.randomNonce()): SignInRequest {
    return {
      ...{ state: openid.randomState(), nonce },
      ...{ verifier: openid.randomPKCECodeVerifier(), acr },
    };
  }

  /** Where the browser goes to sign in. @param action an action of Keycloak's that is asked for, like setting up a passkey */
  async signInUrl({ state, nonce, verifier, acr }: SignInRequest, action?: string): Promise<URL> {
    return openid.buildAuthorizationUrl(this.#config, {
      redirect_uri: this.#redirectUri,
      scope: "openid",
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...{ state, nonce, acr_values: acr },
      ...(action === undefined ? {} : { kc_action: action }),
    });
  }

  /**
   * Takes the code that the browser brought back.
   * @param query of the callback, as it came
   * @throws SignInRefused, KeycloakUnreachableError
   */
  async finish(request: SignInRequest, query: string): Promise<SignedIn> {
    const url = new URL(this.#redirectUri);
    url.search = query;
    const answer = await orRefused(() =>
      openid.authorizationCodeGrant(this.#config, url, {
        expectedState: request.state,
        expectedNonce: request.nonce,
        pkceCodeVerifier: request.verifier,
        idTokenExpected: true,
      }),
    );
    return signedInOf(answer);
  }

  /** Whether session and person are still there, with roles of now. @throws SessionGone, KeycloakUnreachableError */
  async refresh({
    refresh,
    id,
  }: KeptTokens): Promise<Pick<SignedIn, "roles" | "groups" | "tokens">> {
    let answer: Awaited<ReturnType<typeof openid.refreshTokenGrant>>;
    try {
      answer = await openid.refreshTokenGrant(this.#config, refresh);
    } catch (error) {
      if (error instanceof openid.ResponseBodyError && error.error === "invalid_grant")
        throw new SessionGone("Keycloak ended the session", { cause: error });
      throw reachable(error);
    }
    const claims = answer.claims();
    return {
      roles: claims?.["roles"],
      groups: groupClaims(claims),
      tokens: { refresh: answer.refresh_token ?? refresh, id: answer.id_token ?? id },
    };
  }

  /** Where the browser goes to end Keycloak's session as well. */
  signOutUrl({ id }: KeptTokens): URL {
    return openid.buildEndSessionUrl(this.#config, {
      id_token_hint: id,
      post_logout_redirect_uri: `${this.#origin}/`,
    });
  }

  /** Whose sessions Keycloak says have ended. @throws SignInRefused */
  async readLogoutToken(token: string): Promise<{ sid: string } | { subject: string }> {
    const claims = await this.#verify(token, {
      audience: [DASHBOARD_CLIENT, CLI_CLIENT],
      typ: "logout+jwt",
      maxTokenAge: LOGOUT_TOKEN_LIFE_S,
      requiredClaims: ["events", "jti", "iat"],
    });
    const events = claims["events"];
    if (typeof events !== "object" || events === null || !(BACK_CHANNEL_EVENT in events))
      throw new SignInRefused("logout_token_event");
    if ("nonce" in claims) throw new SignInRefused("logout_token_nonce");
    if (typeof claims["sid"] === "string") return { sid: claims["sid"] };
    if (typeof claims.sub === "string") return { subject: claims.sub };
    throw new SignInRefused("logout_token_subject");
  }

  /** Who an access token is of: the command line's person, or a client that showed a key of its own. @throws SignInRefused */
  async readAccessToken(token: string): Promise<PersonClaims | ClientClaims> {
    const claims = await this.#verify(token, {
      audience: API_AUDIENCE,
      typ: "at+jwt",
      // One from the future is refused as well.
      maxTokenAge: ACCESS_TOKEN_LIFE_S,
      requiredClaims: ["exp", "iat", "sub", "azp", "jti"],
    });
    const { azp } = claims;
    if (azp === CLI_CLIENT) return personClaims(claims);
    if (typeof azp === "string" && azp.startsWith(SERVICE_ACCOUNT_CLIENT_PREFIX))
      return clientClaims(azp, claims);
    throw new SignInRefused("token_azp");
  }

  async #verify(
    token: string,
    options: {
      audience: string | string[];
      typ: string;
      maxTokenAge?: number;
      requiredClaims: string[];
    },
  ) {
    try {
      const { payload } = await jwtVerify(token, this.#keys, {
        ...options,
        issuer: this.#issuer,
        algorithms: ["ES256"],
        clockTolerance: CLOCK_TOLERANCE_S,
      });
      return payload;
    } catch (error) {
      if (error instanceof joseErrors.JOSEError && !KEYS_UNREAD.includes(error.code))
        throw new SignInRefused(error.code.toLowerCase(), { cause: error });
      throw reachable(error);
    }
  }

  get #redirectUri(): string {
    return `${this.#origin}/auth/callback`;
  }
}

async function orRefused<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (
      (error instanceof openid.AuthorizationResponseError ||
        error instanceof openid.ResponseBodyError) &&
      !NOT_JUDGED.includes(error.error)
    )
      throw new SignInRefused(wordOf(error.error), { cause: error });
    if (error instanceof openid.ClientError && !isUnreachable(error.cause))
      throw new SignInRefused(wordOf(error.code ?? "invalid_answer"), { cause: error });
    throw reachable(error);
  }
}

/** What openid-client wraps keeps its own meaning. */
function reachable(error: unknown): unknown {
  if (error instanceof Error && isUnreachable(error.cause)) return error.cause;
  if (isUnreachable(error)) return error;
  return new ApiError("identity_unavailable", "the identity provider gave no usable answer", {
    cause: error,
  });
}

function isUnreachable(error: unknown): boolean {
  return error instanceof Error && error.name === "KeycloakUnreachableError";
}

/** @throws SignInRefused */
function personClaims(claims: Record<string, unknown>): PersonClaims {
  const { sub, sid, acr, auth_time: time, roles } = claims;
  if (typeof sub !== "string" || typeof sid !== "string" || typeof time !== "number")
    throw new SignInRefused("token_claims");
  return {
    ...{ kind: "person", subject: sub, sid, acr: typeof acr === "string" ? acr : "0" },
    ...{ authenticatedAt: time * 1000, roles },
  };
}

/** A token of such a client is for itself: one with a session is some person's. @throws SignInRefused */
function clientClaims(clientId: string, claims: Record<string, unknown>): ClientClaims {
  const { sub, jti, sid } = claims;
  if (typeof sub !== "string" || typeof jti !== "string" || sid !== undefined)
    throw new SignInRefused("token_claims");
  return { kind: "client", clientId, subject: sub, tokenId: jti };
}

/** A word of the catalogue's form, whatever a stranger put into the address. */
function wordOf(text: string): string {
  return /^[A-Za-z][A-Za-z0-9_]{0,62}$/.test(text) ? text.toLowerCase() : "invalid_answer";
}

function signedInOf(answer: Awaited<ReturnType<typeof openid.authorizationCodeGrant>>): SignedIn {
  const claims = answer.claims();
  const { refresh_token: refresh, id_token: id } = answer;
  const {
    sub,
    sid,
    acr,
    preferred_username: username,
    roles,
  } = (claims ?? {}) as Record<string, unknown>;
  if (
    typeof sub !== "string" ||
    typeof sid !== "string" ||
    typeof username !== "string" ||
    refresh === undefined ||
    id === undefined
  )
    throw new SignInRefused("token_claims");
  return {
    ...{ subject: sub, username, sid, acr: typeof acr === "string" ? acr : "0" },
    ...{ roles, groups: groupClaims(claims), tokens: { refresh, id } },
  };
}

function groupClaims(claims: Readonly<Record<string, unknown>> | undefined): GroupClaims {
  return { paths: claims?.["groups"], named: claims?.["directory_groups"] };
}
