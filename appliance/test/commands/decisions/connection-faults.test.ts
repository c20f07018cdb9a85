import t from "tap";
import { connectionFaults } from "../../../src/commands/decisions/connection-faults.ts";

const ldap = {
  kind: "ldap",
  ...{ name: "corp", vendor: "other", url: "ldaps://ldap.hospital.example" },
  ...{ peopleDn: "ou=people,dc=hospital", bindDn: "cn=reader,dc=hospital" },
  ...{ usernameAttribute: "uid", idAttribute: "entryUUID", objectClass: "inetOrgPerson" },
  filter: null,
  groups: { dn: "ou=groups", objectClass: "groupOfNames", memberAttribute: "member", filter: null },
  readAgainMs: 60_000,
} as const;
const oidc = {
  kind: "oidc",
  ...{ name: "uni", label: "University", clientId: "resontech", provider: {} },
  ...{ usernameFrom: "preferred_username", groupsFrom: null },
} as const;
const saml = {
  kind: "saml",
  ...{ name: "clinic", label: "Clinic", provider: {} },
  ...{ usernameFrom: "NAMEID", groupsFrom: "memberOf" },
} as const;

t.test("what is a connection has no fault", (t) => {
  for (const one of [ldap, { ...ldap, groups: null, filter: "(a=b)" }, oidc, saml])
    t.strictSame(connectionFaults(one), []);
  t.end();
});

t.test("each fault is named by its option, and nothing else is", (t) => {
  const cases: [wish: Parameters<typeof connectionFaults>[0], ...options: string[]][] = [
    [{ ...ldap, name: "Corp!" }, "the name"],
    [{ ...ldap, url: "ldap://ldap.hospital.example" }, "--url"],
    [{ ...ldap, url: "ldaps://a b", vendor: "novell" }, "--vendor", "--url"],
    [{ ...ldap, peopleDn: "", bindDn: "" }, "--people", "--bind"],
    [
      { ...ldap, usernameAttribute: "u id", idAttribute: "", objectClass: "*" },
      ...["--username-attribute", "--id-attribute", "--object-class"],
    ],
    [{ ...ldap, filter: "uid=*" }, "--filter"],
    [{ ...ldap, groups: { ...ldap.groups, filter: "x" } }, "--group-filter"],
    [
      { ...ldap, groups: { ...ldap.groups, dn: "", objectClass: " ", memberAttribute: "" } },
      ...["--groups", "--group-class", "--member-attribute"],
    ],
    [{ ...oidc, name: "../uni" }, "the name"],
    [{ ...oidc, label: "", clientId: "" }, "--label", "--client-id"],
    [{ ...oidc, usernameFrom: "", groupsFrom: "" }, "--username-claim", "--groups-claim"],
    [{ ...saml, usernameFrom: "", groupsFrom: "" }, "--username-attribute", "--groups-attribute"],
    [{ ...saml, provider: { a: "x".repeat(40_000) } }, "--metadata"],
  ];
  for (const [one, ...options] of cases)
    t.strictSame(
      connectionFaults(one)
        .map((line) => line.replace(/ (must|describes) .*/, ""))
        .toSorted(),
      options.toSorted(),
    );
  t.end();
});
