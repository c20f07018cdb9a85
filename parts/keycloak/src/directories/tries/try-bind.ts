/** Tries a directory's name and password from here, before anybody is asked to trust anything: Keycloak has to start again for that. */
import { Client, InvalidCredentialsError, ResultCodeError } from "ldapts";
import type { LdapConnection } from "@resontech/contracts/identity-connections";
import { type Check, right, wrong } from "./check.ts";
import { reach, trusted } from "./reach.ts";

const LDAPS_PORT = 636;
const TIMEOUT_MS = 8_000;

/** @param caPem of the customer's authority; null: whom every program trusts @param secret of the bind */
export async function tryBindFromHere(
  { url: urls, bindDn }: Pick<LdapConnection, "url" | "bindDn">,
  secret: string,
  caPem: string | null,
): Promise<Check[]> {
  const checks: Check[] = [];
  for (const url of urls.split(" ")) {
    const { hostname, port } = new URL(url);
    const reached = await reach(hostname, Number(port || LDAPS_PORT), caPem);
    checks.push(reached);
    if (reached.fault !== null) continue;
    const bound = await bind(url, bindDn, secret, caPem);
    checks.push(bound);
    // One more wrong password may lock the account.
    if (bound.fault !== null) break;
  }
  return checks;
}

async function bind(
  url: string,
  bindDn: string,
  secret: string,
  caPem: string | null,
): Promise<Check> {
  const what = `${url} lets ${bindDn} in`;
  const client = new Client({
    ...{ url, timeout: TIMEOUT_MS, connectTimeout: TIMEOUT_MS },
    // Active Directory takes other names than a DN.
    strictDN: false,
    tlsOptions: { ca: trusted(caPem) },
  });
  try {
    await client.bind(bindDn, secret);
    return right(what);
  } catch (error) {
    if (error instanceof InvalidCredentialsError)
      return wrong(
        what,
        "the directory refuses this name with this password",
        "correct --bind or the password; look whether the account is locked or expired",
      );
    const why = error instanceof ResultCodeError ? `code ${error.code}` : "no answer";
    return wrong(
      what,
      `the directory does not let anybody sign in there (${why})`,
      "ask who runs the directory whether it takes a simple bind over TLS",
    );
  } finally {
    await client.unbind().catch(() => {});
  }
}
