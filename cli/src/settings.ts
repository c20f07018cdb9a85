/** Who asks, and of whom: the names that the public Python client reads, so one quickstart block serves both; without a key, who signed in. */
import { readFileSync } from "node:fs";
import { CliError, UsageError } from "./cli-error.ts";
import { readAccountFile } from "./service-accounts/account-file.ts";
import { refresh } from "./sign-in/device-grant.ts";
import type { Appliance } from "./sign-in/keycloak-client.ts";
import {
  type KeptSession,
  readSession,
  sessionFile,
  withLock,
  writeSession,
} from "./sign-in/kept-session.ts";
import { signInByKey } from "./sign-in/service-account-grant.ts";

export type Settings = {
  baseUrl: URL;
  /** A platform key, or an access token that is good now. Neither stands in arguments: everybody on a host can read these. */
  credential: () => Promise<string>;
  /** PEM of whom to trust; null: whom Node trusts. */
  ca: string | null;
  /** The id of the project that is meant; null: the only one of a key, and the first of a person. */
  project: string | null;
};

/** A token is renewed so long before its end: the request has yet to arrive. */
const SPARE_MS = 20_000;
const QUICKSTART =
  "Sign in: resontech login https://<name>:8000. Or paste the [sdk quickstart] block of your credentials into the shell.";
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * The key of the environment counts before a session.
 * @param options.isRenewed a session whose token is over is renewed; else it is none
 * @throws CliError `not_configured`, `url_invalid`, `ca_unreadable`
 */
export function settingsFrom(
  env: NodeJS.ProcessEnv,
  { isRenewed = true }: { isRenewed?: boolean } = {},
): Settings {
  const { RESON_API_KEY: apiKey = "", RESON_BASE_URL: base = "" } = env;
  const ca = caOf(env);
  if (apiKey !== "" && base !== "")
    return { baseUrl: applianceUrl(base), credential: async () => apiKey, ca, project: null };
  const file = sessionFile(env);
  const session = readSession(file);
  if (session === null)
    throw new CliError(
      "not_configured",
      "nobody is signed in, and RESON_API_KEY and RESON_BASE_URL are not set",
      QUICKSTART,
    );
  const baseUrl = applianceUrl(session.baseUrl);
  const credential = () => livingToken(file, { baseUrl, ca }, isRenewed);
  return { baseUrl, ca, credential, project: null };
}

/**
 * Which appliance is meant, for what shows a credential of its own.
 * @throws CliError `not_configured`, `url_invalid`, `ca_unreadable`
 */
export function applianceFrom(env: NodeJS.ProcessEnv): Pick<Settings, "baseUrl" | "ca"> {
  const { RESON_BASE_URL: named = "" } = env;
  const base = named === "" ? readSession(sessionFile(env))?.baseUrl : named;
  if (base === undefined)
    throw new CliError(
      "not_configured",
      "nobody is signed in, and RESON_BASE_URL is not set",
      "Set RESON_BASE_URL to https://<name>:8000.",
    );
  return { baseUrl: applianceUrl(base), ca: caOf(env) };
}

/** @throws CliError `ca_unreadable` */
export function caOf({ SSL_CERT_FILE: file = "" }: NodeJS.ProcessEnv): string | null {
  if (file === "") return null;
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new CliError(
      "ca_unreadable",
      `SSL_CERT_FILE names ${file}, which can't be read`,
      "`appliance ca show` says where it is.",
    );
  }
}

/** @throws CliError `url_invalid` */
export function applianceUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url === null ||
    (url.protocol !== "https:" && !(url.protocol === "http:" && LOOPBACK.test(url.hostname)))
  )
    throw new UsageError(
      "url_invalid",
      `${text === "" ? "RESON_BASE_URL" : text} is no https: address`,
      "A credential is sent over TLS alone; plain HTTP is for loopback.",
    );
  return url;
}

function renewedOf(appliance: Appliance, session: KeptSession): Promise<KeptSession> {
  const { serviceAccount: file } = session;
  return file === undefined
    ? refresh(appliance, session)
    : signInByKey(appliance, readAccountFile(file), file);
}

async function livingToken(
  file: string,
  appliance: Appliance,
  isRenewed: boolean,
): Promise<string> {
  const isLiving = (session: KeptSession | null): session is KeptSession =>
    session !== null && session.expiresAt - SPARE_MS > Date.now();
  const now = readSession(file);
  if (isLiving(now)) return now.accessToken;
  if (!isRenewed)
    throw new CliError("signed_out", "the token is over", "Any other command renews it.");
  return await withLock(file, async () => {
    // Another process may have renewed it while this one waited.
    const session = readSession(file);
    if (isLiving(session)) return session.accessToken;
    if (session === null)
      throw new CliError("signed_out", "nobody is signed in", "Sign in: resontech login.");
    const renewed = await renewedOf(appliance, session);
    writeSession(file, renewed);
    return renewed.accessToken;
  });
}
