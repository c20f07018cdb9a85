/** `appliance identity connect ldap | oidc | saml`: the customer's directory or identity provider signs people in. */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Check } from "@resontech/keycloak/check";
import { readMetadata } from "@resontech/keycloak/read-metadata";
import { download, inWords } from "@resontech/keycloak/reach";
import { tryBindFromHere } from "@resontech/keycloak/try-bind";
import { tryBroker } from "@resontech/keycloak/try-broker";
import { REALM } from "@resontech/keycloak/realm-definition";
import {
  type Connection,
  type LdapConnection,
  type OidcConnection,
  READ_AGAIN_DEFAULT_MS,
  type SamlConnection,
} from "@resontech/contracts/identity-connections";
import { type Command, InvalidArgumentError } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { directoryCa, writeDirectoryCa } from "../config/connections.ts";
import { applianceAdmin, keycloakAddress } from "../keycloak/appliance-admin.ts";
import {
  connectDirectory,
  ConnectionError,
  requireName,
  tryConnection,
} from "../keycloak/connect-directory.ts";
import type { PartContext } from "../parts/context.ts";
import type { OperatorShell } from "./ask-operator.ts";
import { linesOf } from "./connection-commands.ts";
import { connectionFaults } from "./decisions/connection-faults.ts";
import { startParts, stopParts } from "./planned-stop.ts";
import { readSecret } from "./read-secret.ts";
import { restartRecorded } from "./recorded-parts.ts";
import { waitHealthy } from "./wait-healthy.ts";

const STOP_MS = 60_000;
const START_MS = 300_000;
/** Everybody but accounts that are disabled. */
const AD_FILTER = "(!(userAccountControl:1.2.840.113556.1.4.803:=2))";

type Common = { ca?: string };
type LdapOptions = Common & {
  url: string;
  people: string;
  bind: string;
  vendor: LdapConnection["vendor"];
  usernameAttribute?: string;
  idAttribute?: string;
  objectClass?: string;
  filter?: string;
  groups?: string;
  groupClass?: string;
  memberAttribute: string;
  groupFilter?: string;
  passwordFile?: string;
};
type ProviderOptions = Common & { metadata: string; label?: string };
type OidcOptions = ProviderOptions & {
  clientId: string;
  usernameClaim: string;
  groupsClaim?: string;
  secretFile?: string;
};
type SamlOptions = ProviderOptions & { usernameAttribute: string; groupsAttribute?: string };

export function addConnectCommands(identity: Command, shell: OperatorShell): void {
  const { openContext, say } = shell;
  const connect = identity
    .command("connect")
    .description("sign people in by the customer's LDAP, Active Directory, OIDC or SAML")
    .addHelpText("after", "\nConnecting a name again changes its connection.");

  leaves(connect.command("ldap <name>"), { event: "admin.identity.connection" })
    .description("an LDAP directory or Active Directory, read-only and over TLS")
    .requiredOption("--url <url>", "ldaps://host[:port]; several, blanks between")
    .requiredOption("--people <dn>", "below which people are")
    .requiredOption("--bind <dn>", "as whom the directory is searched; it needs to read, no more")
    .option("--vendor <vendor>", "ad or other", "other")
    .option("--username-attribute <name>", "what people type [uid; AD: sAMAccountName]")
    .option("--id-attribute <name>", "what never changes [entryUUID; AD: objectGUID]")
    .option("--object-class <name>", "of people [inetOrgPerson; AD: user]")
    .option("--filter <filter>", "who may sign in, like (memberOf=cn=gpu,…)")
    .option("--groups <dn>", "below which groups are, to give roles in projects")
    .option("--group-class <name>", "of groups [groupOfNames; AD: group]")
    .option("--member-attribute <name>", "of a group, naming its members", "member")
    .option("--group-filter <filter>", "which groups are looked at")
    .option("--ca <file>", "PEM of the authority that signed the directory's certificate")
    .option("--password-file <file>", "of the bind; asked for where it is not given")
    .addHelpText(
      "after",
      `
Examples:
  appliance identity connect ldap corp --vendor ad --url ldaps://dc1.hospital.example \\
    --people "OU=Staff,DC=hospital,DC=example" --groups "OU=Groups,DC=hospital,DC=example" \\
    --bind "CN=resontech,OU=Services,DC=hospital,DC=example" --ca /root/hospital-ca.pem
  appliance identity connect ldap lab --url ldaps://ldap.lab.example \\
    --people ou=people,dc=lab,dc=example --bind cn=reader,dc=lab,dc=example`,
    )
    .action(async (name: string, options: LdapOptions) => {
      const context = openContext();
      const connection = checked(ldapOf(name, options));
      requireName(context.layout, connection);
      const secret = await readSecret(
        options.passwordFile ?? null,
        `password of ${options.bind}`,
        "--password-file",
      );
      const ca = readCa(options.ca, say);
      const trusted = ca ?? directoryCa(context.layout, name);
      requireRight(name, await tryBindFromHere(connection, secret, trusted), say);
      await trust(context, name, ca, say);
      await tryAndConnect(context, connection, secret, say);
    });

  leaves(connect.command("oidc <name>"), { event: "admin.identity.connection" })
    .description("an OpenID Connect provider of the perimeter")
    .requiredOption("--metadata <url>", "https address or file of .well-known/openid-configuration")
    .requiredOption("--client-id <id>", "as which the provider knows this appliance")
    .option("--label <text>", "what the button says [the name]")
    .option("--username-claim <claim>", "what the person's name is", "preferred_username")
    .option("--groups-claim <claim>", "what names groups, to give roles in projects")
    .option("--ca <file>", "PEM of the authority that signed the provider's certificate")
    .option("--secret-file <file>", "the client's secret; asked for where it is not given")
    .addHelpText(
      "after",
      `
Example:
  appliance identity connect oidc uni --label University --client-id resontech \\
    --metadata https://login.uni.example/.well-known/openid-configuration --groups-claim groups`,
    )
    .action(async (name: string, options: OidcOptions) => {
      const context = openContext();
      // Before anything is asked for or written: a name is a file's, too.
      const wish = checked<OidcConnection>({
        ...{ kind: "oidc", name, label: options.label ?? name, clientId: options.clientId },
        ...{ usernameFrom: options.usernameClaim, groupsFrom: options.groupsClaim ?? null },
        provider: {},
      });
      const secret = await readSecret(
        options.secretFile ?? null,
        `secret of the client ${options.clientId}`,
        "--secret-file",
      );
      const ca = readCa(options.ca, say);
      const trusted = ca ?? directoryCa(context.layout, name);
      const provider = await metadata(context, "oidc", trusted, options.metadata);
      const connection = checked({ ...wish, provider });
      requireName(context.layout, connection);
      requireRight(name, await tryBroker(connection, trusted), say);
      await trust(context, name, ca, say);
      await tryAndConnect(context, connection, secret, say);
      const base = brokerAddress(context, name);
      say(`tell the provider the redirect address: ${base}/endpoint`);
      say(
        `and for leavers the back-channel logout address: ${keycloakAddress(context).origin}/realms/${REALM}/protocol/openid-connect/logout/backchannel-logout`,
      );
    });

  leaves(connect.command("saml <name>"), { event: "admin.identity.connection" })
    .description("a SAML 2.0 identity provider of the perimeter")
    .requiredOption("--metadata <url>", "https address or file of the provider's XML metadata")
    .option("--label <text>", "what the button says [the name]")
    .option("--username-attribute <name>", "what the person's name is, or NAMEID", "NAMEID")
    .option("--groups-attribute <name>", "what names groups, to give roles in projects")
    .option("--ca <file>", "PEM of the authority that signed the provider's certificate")
    .addHelpText(
      "after",
      `
Example:
  appliance identity connect saml clinic --label Clinic --metadata /root/clinic-idp.xml \\
    --username-attribute uid --groups-attribute memberOf`,
    )
    .action(async (name: string, options: SamlOptions) => {
      const context = openContext();
      const wish = checked<SamlConnection>({
        ...{ kind: "saml", name, label: options.label ?? name, provider: {} },
        ...{ usernameFrom: options.usernameAttribute, groupsFrom: options.groupsAttribute ?? null },
      });
      const ca = readCa(options.ca, say);
      const trusted = ca ?? directoryCa(context.layout, name);
      const provider = await metadata(context, "saml", trusted, options.metadata);
      const connection = checked({ ...wish, provider });
      requireName(context.layout, connection);
      requireRight(name, await tryBroker(connection, trusted), say);
      await trust(context, name, ca, say);
      await tryAndConnect(context, connection, null, say);
      say(`give the provider these metadata: ${brokerAddress(context, name)}/endpoint/descriptor`);
    });
}

function ldapOf(name: string, options: LdapOptions): LdapConnection {
  const isAd = options.vendor === "ad";
  return {
    ...{ kind: "ldap", name, vendor: options.vendor, url: options.url },
    ...{ peopleDn: options.people, bindDn: options.bind },
    usernameAttribute: options.usernameAttribute ?? (isAd ? "sAMAccountName" : "uid"),
    idAttribute: options.idAttribute ?? (isAd ? "objectGUID" : "entryUUID"),
    objectClass: options.objectClass ?? (isAd ? "user" : "inetOrgPerson"),
    filter: options.filter ?? (isAd ? AD_FILTER : null),
    groups:
      options.groups === undefined
        ? null
        : {
            dn: options.groups,
            objectClass: options.groupClass ?? (isAd ? "group" : "groupOfNames"),
            memberAttribute: options.memberAttribute,
            filter: options.groupFilter ?? null,
          },
    readAgainMs: READ_AGAIN_DEFAULT_MS,
  };
}

/** @throws InvalidArgumentError naming each option that is wrong */
function checked<C extends Connection>(connection: C): C {
  const faults = connectionFaults(connection);
  if (faults.length > 0) throw new InvalidArgumentError(faults.join("; "));
  return connection;
}

/** @returns PEM; null where none is given @throws InvalidArgumentError */
function readCa(file: string | undefined, say: (line: string) => void): string | null {
  if (file === undefined) return null;
  try {
    const pem = readFileSync(file, "utf8");
    if (!new X509Certificate(pem).ca)
      say(`${file} is no authority's certificate, but one server's`);
    return pem;
  } catch (error) {
    throw new InvalidArgumentError(`--ca ${file}: no PEM certificate (${String(error)})`);
  }
}

/**
 * Keycloak reads whom it trusts when it starts; nobody new can sign in meanwhile, and sessions live on. So all that can be tried without it was tried
 * before. @param pem null: nobody new
 */
async function trust(
  context: PartContext,
  name: string,
  pem: string | null,
  say: (line: string) => void,
): Promise<void> {
  if (pem === null || !writeDirectoryCa(context.layout, name, pem)) return;
  say("keycloak starts again, so that it trusts this authority; nobody can sign in for a minute");
  await restartRecorded(context, ["keycloak"], async (parts) => {
    await stopParts(context, parts, STOP_MS);
    await startParts(context, parts);
    await waitHealthy(context, START_MS, () => {}, parts);
  });
}

/** @throws ConnectionError connection_failed, MetadataInvalid */
async function metadata(
  context: PartContext,
  kind: "oidc" | "saml",
  caPem: string | null,
  source: string,
): Promise<Record<string, string>> {
  return await readMetadata(
    await applianceAdmin(context),
    REALM,
    kind,
    await textOf(source, caPem),
  );
}

async function textOf(source: string, caPem: string | null): Promise<string> {
  if (!/^https?:\/\//.test(source)) return readFileSync(source, "utf8");
  const url = new URL(source);
  if (url.protocol !== "https:")
    throw new InvalidArgumentError("--metadata: over http anybody on the way could change them");
  try {
    const { status, text } = await download(url, caPem);
    if (status === 200) return text;
    throw new ConnectionError(
      "connection_failed",
      `${source} answers with status ${status}`,
      "Correct the address of the metadata.",
    );
  } catch (error) {
    if (error instanceof ConnectionError) throw error;
    const [fault, todo] = inWords(error, url.hostname, Number(url.port || 443));
    throw new ConnectionError("connection_failed", fault, `${todo}.`);
  }
}

/** Nothing is connected that does not work. @throws ConnectionError connection_failed */
async function tryAndConnect(
  context: PartContext,
  connection: Connection,
  secret: string | null,
  say: (line: string) => void,
): Promise<void> {
  requireName(context.layout, connection);
  const admin = await applianceAdmin(context);
  const checks = await tryConnection(context.layout, admin, connection, { secret, person: null });
  requireRight(connection.name, checks, say);
  await connectDirectory(context, connection, secret);
  say(`${connection.name} is connected; people see it at the next sign-in`);
}

/** Tells what was tried. @throws ConnectionError connection_failed */
function requireRight(name: string, checks: readonly Check[], say: (line: string) => void): void {
  for (const line of linesOf(checks)) say(line);
  if (checks.some(({ fault }) => fault !== null))
    throw new ConnectionError(
      "connection_failed",
      `${name} is not connected, and nothing was changed`,
      "Do what stands above, and connect it again.",
    );
}

function brokerAddress(context: PartContext, name: string): string {
  return `${keycloakAddress(context).origin}/realms/${REALM}/broker/${name}`;
}
