/** Tries what can be tried of an identity provider without a person: its addresses, keys and clock. */
import { X509Certificate } from "node:crypto";
import type { OidcConnection, SamlConnection } from "@resontech/contracts/identity-connections";
import { type Check, right, wrong } from "./check.ts";
import { download, inWords, reach } from "./reach.ts";

/** A statement is refused when its times are further off than this. */
const CLOCK_TOLERANCE_MS = 30_000;
const HTTPS_PORT = 443;

export async function tryBroker(
  connection: OidcConnection | SamlConnection,
  caPem: string | null,
): Promise<Check[]> {
  return connection.kind === "oidc"
    ? await tryOidc(connection, caPem)
    : await trySaml(connection, caPem);
}

async function tryOidc({ provider }: OidcConnection, caPem: string | null): Promise<Check[]> {
  const checks: Check[] = [];
  for (const host of hostsOf([provider["authorizationUrl"], provider["tokenUrl"]]))
    checks.push(await reach(host.hostname, Number(host.port || HTTPS_PORT), caPem));
  const url = urlOf(provider["jwksUrl"]);
  const what = "the provider shows the keys that it signs with";
  if (url === null)
    return [
      ...checks,
      wrong(what, "its metadata name no address of keys", "ask the provider for `jwks_uri`"),
    ];
  try {
    const { status, text, date } = await download(url, caPem);
    checks.push(
      status === 200 && hasKey(text)
        ? right(what)
        : wrong(
            what,
            `${url.href} has no key (status ${status})`,
            "look at the provider's settings",
          ),
    );
    checks.push(clockOf(date));
  } catch (error) {
    checks.push(wrong(what, ...inWords(error, url.hostname, Number(url.port || HTTPS_PORT))));
  }
  return checks;
}

async function trySaml({ provider }: SamlConnection, caPem: string | null): Promise<Check[]> {
  const checks: Check[] = [];
  const url = urlOf(provider["singleSignOnServiceUrl"]);
  if (url === null)
    return [
      wrong(
        "the provider says where people sign in",
        "its metadata name no single sign-on service over https",
        "export the metadata of an identity provider, not of a service provider",
      ),
    ];
  try {
    checks.push(clockOf((await download(url, caPem)).date));
    checks.unshift(right(`${url.host} answers with a trusted certificate`));
  } catch (error) {
    const [fault, todo] = inWords(error, url.hostname, Number(url.port || HTTPS_PORT));
    checks.push(wrong(`${url.host} answers with a trusted certificate`, fault, todo));
  }
  return [...checks, keysOf(provider["signingCertificate"] ?? "", Date.now())];
}

function keysOf(certificates: string, now: number): Check {
  const what = "the key that the provider signs with is good";
  const all = certificates.split(",").flatMap((one) => certificateOf(one) ?? []);
  if (all.length === 0)
    return wrong(what, "the metadata have no signing certificate", "export the metadata anew");
  const isGood = all.some(({ validToDate }) => validToDate.getTime() > now);
  return isGood
    ? right(what)
    : wrong(
        what,
        "each signing certificate in the metadata is over",
        "connect again with new metadata",
      );
}

function certificateOf(base64: string): X509Certificate | null {
  try {
    return new X509Certificate(Buffer.from(base64.replaceAll(/\s/g, ""), "base64"));
  } catch {
    return null;
  }
}

function clockOf(date: string | null): Check {
  const what = "the provider's clock agrees with this host's";
  const offMs = date === null ? 0 : Math.abs(Date.now() - Date.parse(date));
  return offMs <= CLOCK_TOLERANCE_MS
    ? right(what)
    : wrong(
        what,
        `they are ${Math.round(offMs / 1_000)} s apart`,
        "let both follow one time server",
      );
}

function hasKey(text: string): boolean {
  try {
    const { keys } = JSON.parse(text) as { keys?: unknown };
    return Array.isArray(keys) && keys.length > 0;
  } catch {
    return false;
  }
}

/** One for each server. */
function hostsOf(texts: readonly (string | undefined)[]): URL[] {
  const urls = texts.map(urlOf).filter((url) => url !== null);
  return [...new Map(urls.map((url) => [url.host, url])).values()];
}

function urlOf(text: string | undefined): URL | null {
  if (text === undefined || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === "https:" ? url : null;
}
