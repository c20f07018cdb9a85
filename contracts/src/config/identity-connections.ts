/**
 * `<root>/etc/identity.json` (0600, root): the directories and identity providers that the customer connected, by which people sign in.
 * It holds no secret: those are Keycloak's alone.
 */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";

const Text = Type.String({ minLength: 1, maxLength: 2_048 });
const Word = Type.String({ pattern: "^[A-Za-z0-9_.:/-]{1,256}$" });

/** How long Keycloak believes what it read of a person: with the sessions' question every two minutes, a leaver is out in less than five. */
export const READ_AGAIN_DEFAULT_MS = 60_000;

/** Part of the groups' names and of the addresses that a provider is told; no name is given to another directory later. */
export const ConnectionName = Type.String({ pattern: "^[a-z][a-z0-9-]{0,30}$" });

export const LdapConnection = Type.Object(
  {
    kind: Type.Literal("ldap"),
    name: ConnectionName,
    vendor: Type.Enum(["ad", "other"]),
    /** One or more of `ldaps://host:port`, blanks between. */
    url: Type.String({
      pattern: "^ldaps://[^\\s/?#@]+(?: ldaps://[^\\s/?#@]+)*$",
      maxLength: 2_048,
    }),
    /** DN below which people are. */
    peopleDn: Text,
    /** DN as which Keycloak searches. */
    bindDn: Text,
    /** The attribute by which people sign in. */
    usernameAttribute: Word,
    /** The attribute that never changes while a person lives there. */
    idAttribute: Word,
    objectClass: Word,
    /** LDAP filter in parentheses; null: everybody below `peopleDn`. */
    filter: Type.Union([Type.String({ pattern: "^\\(.*\\)$", maxLength: 2_048 }), Type.Null()]),
    groups: Type.Union([
      Type.Object(
        {
          dn: Text,
          objectClass: Word,
          memberAttribute: Word,
          filter: Type.Union([
            Type.String({ pattern: "^\\(.*\\)$", maxLength: 2_048 }),
            Type.Null(),
          ]),
        },
        closed,
      ),
      Type.Null(),
    ]),
    /** How long Keycloak believes what it read of a person, in milliseconds. */
    readAgainMs: Type.Integer({ minimum: 1_000, maximum: 120_000 }),
  },
  closed,
);

const ofProvider = {
  name: ConnectionName,
  /** What a person reads on the button. */
  label: Type.String({ minLength: 1, maxLength: 64 }),
  /** Keycloak's settings as the provider's metadata gave them. */
  provider: Type.Record(Type.String({ maxLength: 128 }), Type.String({ maxLength: 32_768 })),
  /** What of the provider's statement is the name of the person, and what names the groups. */
  usernameFrom: Text,
  groupsFrom: Type.Union([Text, Type.Null()]),
};

export const OidcConnection = Type.Object(
  { kind: Type.Literal("oidc"), ...ofProvider, clientId: Text },
  closed,
);
export const SamlConnection = Type.Object({ kind: Type.Literal("saml"), ...ofProvider }, closed);

export const IdentityConnections = Type.Object(
  {
    connections: Type.Array(Type.Union([LdapConnection, OidcConnection, SamlConnection]), {
      maxItems: 32,
    }),
    /** Names that were given once, with what they stood for: people are known by them, so that no other directory may have them. */
    known: Type.Record(Type.String(), Text),
  },
  closed,
);

export type LdapConnection = Static<typeof LdapConnection>;
export type OidcConnection = Static<typeof OidcConnection>;
export type SamlConnection = Static<typeof SamlConnection>;
export type Connection = LdapConnection | OidcConnection | SamlConnection;
export type IdentityConnections = Static<typeof IdentityConnections>;
