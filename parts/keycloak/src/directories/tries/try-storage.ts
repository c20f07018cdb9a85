/** Tries an LDAP directory through Keycloak itself: its trust, its network, and the secret that it alone has. */
import type { LdapConnection } from "@resontech/contracts/identity-connections";
import { type KeycloakAdmin, KeycloakRefusedError } from "../../admin-api.ts";
import { groupOf, KEPT_SECRET } from "../decisions/directory-form.ts";
import { type Check, right, wrong } from "./check.ts";
import { reach } from "./reach.ts";

/** Somebody whose sign-in is tried. @property password null: only whether the person is found */
export type Person = { username: string; password: string | null };
type Account = { id: string; federationLink?: string; attributes?: Record<string, string[]> };

const LDAPS_PORT = 636;

/**
 * @param storageId Keycloak's id of the directory; null before it is made
 * @param secret of the bind; null: the one that Keycloak has
 */
export async function tryStorage(
  admin: KeycloakAdmin,
  realm: string,
  connection: LdapConnection,
  options: {
    storageId: string | null;
    secret: string | null;
    caPem: string | null;
    person: Person | null;
  },
): Promise<Check[]> {
  const checks: Check[] = [];
  for (const url of connection.url.split(" ")) {
    const { hostname, port } = new URL(url);
    checks.push(await reach(hostname, Number(port || LDAPS_PORT), options.caPem));
  }
  if (checks.every(({ fault }) => fault !== null)) return checks;
  const bind = (bindDn: string, bindCredential: string) =>
    tryBind(admin, realm, connection, options.storageId, { bindDn, bindCredential });
  const own = `Keycloak signs in there as ${connection.bindDn}`;
  const refusal = await bind(connection.bindDn, options.secret ?? KEPT_SECRET);
  if (refusal !== null) return [...checks, wrong(own, ...refusal)];
  checks.push(right(own));
  if (options.person !== null && options.storageId !== null)
    checks.push(
      ...(await tryPerson(admin, realm, connection, options.storageId, options.person, bind)),
    );
  return checks;
}

type Bind = (dn: string, password: string) => Promise<[string, string] | null>;

async function tryPerson(
  admin: KeycloakAdmin,
  realm: string,
  { name, peopleDn, usernameAttribute }: LdapConnection,
  storageId: string,
  { username, password }: Person,
  bind: Bind,
): Promise<Check[]> {
  const found = `${username} is found below ${peopleDn}`;
  const [account] = await admin.get<Account[]>(
    `/${realm}/users?exact=true&username=${encodeURIComponent(username)}`,
  );
  const dn = account?.attributes?.["LDAP_ENTRY_DN"]?.[0];
  if (account === undefined)
    return [
      wrong(
        found,
        `nobody there has ${usernameAttribute}=${username}`,
        "compare the name, --people, --username-attribute, --object-class and --filter with the directory",
      ),
    ];
  if (account.federationLink !== storageId || dn === undefined)
    return [
      wrong(
        found,
        `the name ${username} is somebody else's here, a local user's or another directory's, who keeps it`,
        "give one of the two another name",
      ),
    ];
  const checks = [right(found)];
  if (password !== null) {
    const what = `${username} may sign in with this password`;
    const refusal = await bind(dn, password);
    checks.push(
      refusal === null
        ? right(what)
        : wrong(
            what,
            `the directory refuses ${dn} with this password`,
            "try the password elsewhere; look whether the account is locked or expired",
          ),
    );
  }
  const groups = await admin.get<{ path: string }[]>(`/${realm}/users/${account.id}/groups`);
  const names = groups
    .map(({ path }) => path.slice(1))
    .filter((path) => path.startsWith(`${groupOf(name).slice(1)}/`));
  return [
    ...checks,
    right(`${username} is in ${names.length === 0 ? "no group" : names.join(", ")}`),
  ];
}

/** Tries a name at the directory. Null where the directory lets this name in; else what is wrong, and what to do. */
async function tryBind(
  admin: KeycloakAdmin,
  realm: string,
  { url }: LdapConnection,
  componentId: string | null,
  credentials: { bindDn: string; bindCredential: string },
): Promise<[string, string] | null> {
  try {
    await admin.post(`/${realm}/testLDAPConnection`, {
      ...{ action: "testAuthentication", connectionUrl: url, authType: "simple", ...credentials },
      ...{ useTruststoreSpi: "always", connectionTimeout: "5000", startTls: "false" },
      ...(componentId === null ? {} : { componentId }),
    });
    return null;
  } catch (error) {
    if (!(error instanceof KeycloakRefusedError) || error.status !== 400) throw error;
    if (error.answer.includes("AuthenticationFailure"))
      return [
        "the directory refuses this name with this password",
        "correct --bind or the password; look whether the account is locked or expired",
      ];
    return [
      `Keycloak does not reach the directory (${wordOf(error.answer)})`,
      "look at `appliance logs keycloak`; after a new --ca: appliance restart keycloak",
    ];
  }
}

function wordOf(answer: string): string {
  return /"errorMessage":"([A-Za-z ]{1,40})"/.exec(answer)?.[1] ?? "no reason";
}
