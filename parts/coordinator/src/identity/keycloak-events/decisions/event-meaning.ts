/** What Keycloak's events are in the audit log. Pure. Names and addresses of people become commitments where they are written. */
import type { EventDetail, EventType } from "@resontech/contracts/audit-catalogue";

/** As the admin API has them; more of each is passed over. */
export type SignInEvent = {
  id: string;
  /** Unix milliseconds of Keycloak's clock. */
  time: number;
  type: string;
  userId?: string | null;
  clientId?: string | null;
  ipAddress?: string | null;
  error?: string | null;
  details?: Record<string, string> | null;
};
export type AdminEvent = {
  id: string;
  time: number;
  operationType: string;
  resourceType: string;
  resourcePath?: string | null;
  error?: string | null;
  authDetails?: { clientId?: string; userId?: string; ipAddress?: string } | null;
};

type IdpType = Exclude<
  Extract<EventType, `auth.idp.${string}`>,
  "auth.idp.drift" | "auth.idp.keys"
>;
type Observed = "source" | "at" | "lag_ms";
export type Meaning = {
  [T in IdpType]: {
    type: T;
    detail: Omit<EventDetail<T>, Observed>;
    /** Keycloak's id of the person; null where it is nobody's. */
    subject: string | null;
    username: string | null;
    address: string | null;
  };
}[IdpType];

/** Each session asks again every two minutes: that says nothing new of anybody. */
const UNTOLD = new Set(["REFRESH_TOKEN", "CODE_TO_TOKEN", "CLIENT_LOGIN", "OAUTH2_DEVICE_AUTH"]);
const SIGN_INS = new Set(["LOGIN", "IDENTITY_PROVIDER_LOGIN", "IDENTITY_PROVIDER_FIRST_LOGIN"]);

/** Says what an event of a sign-in means; null for what is not told. */
export function signInMeaning(event: SignInEvent): Meaning | null {
  if (UNTOLD.has(event.type)) return null;
  const common = {
    subject: event.userId ?? null,
    username: event.details?.["username"] ?? null,
    address: event.ipAddress ?? null,
  };
  const what = code(event.type);
  const client = event.clientId == null ? {} : { client: code(event.clientId) };
  const provider = event.details?.["identity_provider"];
  const from = provider === undefined ? {} : { provider: code(provider) };
  if (event.error != null || event.type.endsWith("_ERROR"))
    return {
      ...{ type: "auth.idp.failure", ...common },
      detail: { what, reason: code(event.error ?? "unknown"), ...client, ...from },
    };
  if (SIGN_INS.has(event.type))
    return { ...{ type: "auth.idp.sign-in", ...common }, detail: { what, ...client, ...from } };
  return { ...{ type: "auth.idp.account", ...common }, detail: { what, ...client } };
}

export function adminMeaning(event: AdminEvent): Meaning {
  return {
    ...{ type: "auth.idp.admin", subject: null, username: null },
    address: event.authDetails?.ipAddress ?? null,
    detail: {
      ...{ what: code(event.operationType), resource: code(event.resourceType) },
      ...(event.error == null ? {} : { reason: code(event.error) }),
    },
  };
}

/** A word of the catalogue's form, whatever Keycloak or a stranger put there. */
function code(text: string): string {
  const word = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.-]+/g, "_")
    .slice(0, 64);
  return /^[a-z0-9]/.test(word) ? word : `x${word}`.slice(0, 64);
}
