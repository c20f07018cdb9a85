/** What is wrong with a connection that an operator asks for, in the words of the command line. Pure. */
import {
  LdapConnection,
  OidcConnection,
  SamlConnection,
} from "@resontech/contracts/identity-connections";
import { Value } from "typebox/value";

const SCHEMAS = { ldap: LdapConnection, oidc: OidcConnection, saml: SamlConnection } as const;
type Kind = keyof typeof SCHEMAS;

const WORD = "a name of letters, digits and _ . : / -";
const DN = "a DN like ou=people,dc=hospital,dc=example";
const FILTER = "a filter in parentheses, like (memberOf=cn=gpu,…)";
const NAMES = "1 to 2048 characters";

const COMMON = {
  name: "the name must be small letters, digits and -, a letter first, 31 at most",
  label: "--label must be 1 to 64 characters",
} as const;

/** By the place in the connection; what no option fills can't be wrong. */
const RULES: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  ldap: {
    name: COMMON.name,
    vendor: "--vendor must be ad or other",
    url: "--url must be ldaps://host[:port]; several, blanks between",
    peopleDn: `--people must be ${DN}`,
    bindDn: `--bind must be ${DN}`,
    usernameAttribute: `--username-attribute must be ${WORD}`,
    idAttribute: `--id-attribute must be ${WORD}`,
    objectClass: `--object-class must be ${WORD}`,
    filter: `--filter must be ${FILTER}`,
    "groups/dn": `--groups must be ${DN}`,
    "groups/objectClass": `--group-class must be ${WORD}`,
    "groups/memberAttribute": `--member-attribute must be ${WORD}`,
    "groups/filter": `--group-filter must be ${FILTER}`,
  },
  oidc: {
    ...COMMON,
    clientId: `--client-id must be ${NAMES}`,
    usernameFrom: `--username-claim must be ${NAMES}`,
    groupsFrom: `--groups-claim must be ${NAMES}`,
    provider: "--metadata describes more than a provider has",
  },
  saml: {
    ...COMMON,
    usernameFrom: `--username-attribute must be ${NAMES}`,
    groupsFrom: `--groups-attribute must be ${NAMES}`,
    provider: "--metadata describes more than a provider has",
  },
};

/** One line for each fault; none for what is a connection. */
export function connectionFaults(value: { kind: Kind; [field: string]: unknown }): string[] {
  const places = [
    ...new Set(
      Value.Errors(SCHEMAS[value.kind], value).map(({ instancePath }) => instancePath.slice(1)),
    ),
  ];
  // A fault within a part is told for the part as well.
  const innermost = places.filter(
    (place) => !places.some((other) => other.startsWith(`${place}/`)),
  );
  const rules = RULES[value.kind];
  return innermost.map((place) => rules[place] ?? rules[place.split("/")[0] ?? ""] ?? place);
}
