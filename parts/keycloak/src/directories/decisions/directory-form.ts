/** A connection in the form that Keycloak keeps it: a user storage, or an identity provider, each with its mappers. Pure. */
import type {
  Connection,
  LdapConnection,
  OidcConnection,
  SamlConnection,
} from "@resontech/contracts/identity-connections";

export type Values = Record<string, unknown>;
/** @property kind `storage`: Keycloak reads the people itself; `broker`: somebody else signs them in */
export type Directory = {
  kind: "storage" | "broker";
  name: string;
  settings: Values;
  mappers: ({ name: string } & Values)[];
};

export const STORAGE_TYPE = "org.keycloak.storage.UserStorageProvider";
const LDAP_MAPPER_TYPE = "org.keycloak.storage.ldap.mappers.LDAPStorageMapper";
/** Of `policies/realm.json`: makes the person where the name is free, and refuses otherwise. */
const FIRST_SIGN_IN_FLOW = "resontech first sign-in";
/** Of the same file: what a provider's word is worth here, and the second factor, which is this appliance's own. */
const AFTER_PROVIDER_FLOW = "resontech after a provider";
/** Of the realm's user profile: groups as a provider named them at the last sign-in. */
const GROUPS_ATTRIBUTE = "directoryGroups";
/** Keycloak's answer in place of a secret, and what keeps the secret where it is sent back. */
export const KEPT_SECRET = "**********";

export function directoryOf(connection: Connection): Directory {
  switch (connection.kind) {
    case "ldap":
      return storageOf(connection);
    case "oidc":
      return oidcOf(connection);
    case "saml":
      return samlOf(connection);
  }
}

/** The group of Keycloak's below which the groups of a directory are; each of its people is in it while the directory answers. */
export function groupOf(name: string): string {
  return `/${name}`;
}

function storageOf(connection: LdapConnection): Directory {
  const { name, vendor, groups } = connection;
  return {
    kind: "storage",
    name,
    settings: {
      ...{ name, providerId: "ldap", providerType: STORAGE_TYPE },
      config: lists({
        ...{ enabled: "true", priority: "0", vendor },
        ...{ editMode: "READ_ONLY", importEnabled: "true", syncRegistrations: "false" },
        ...{ connectionUrl: connection.url, startTls: "false", useTruststoreSpi: "always" },
        ...{ authType: "simple", bindDn: connection.bindDn },
        ...{ usersDn: connection.peopleDn, searchScope: "2", pagination: "true" },
        usernameLDAPAttribute: connection.usernameAttribute,
        rdnLDAPAttribute: vendor === "ad" ? "cn" : connection.usernameAttribute,
        uuidLDAPAttribute: connection.idAttribute,
        userObjectClasses: connection.objectClass,
        ...(connection.filter === null ? {} : { customUserSearchFilter: connection.filter }),
        ...{ cachePolicy: "MAX_LIFESPAN", maxLifespan: String(connection.readAgainMs) },
        // Who waits for a directory that is away waits at Keycloak's page.
        ...{ connectionTimeout: "5000", readTimeout: "5000", connectionPooling: "true" },
        ...{ fullSyncPeriod: "-1", changedSyncPeriod: "-1" },
        ...{ allowKerberosAuthentication: "false", useKerberosForPasswordAuthentication: "false" },
        ...{
          trustEmail: "false",
          validatePasswordPolicy: "false",
          usePasswordModifyExtendedOp: "false",
        },
      }),
    },
    mappers: [
      ldapMapper("username", "user-attribute-ldap-mapper", {
        "ldap.attribute": connection.usernameAttribute,
        "user.model.attribute": "username",
        "is.mandatory.in.ldap": "true",
        "always.read.value.from.ldap": "false",
        "read.only": "true",
      }),
      // A person of a directory that does not answer is not in the group: so who is disabled there differs from who can't be asked for.
      ldapMapper("answers", "hardcoded-ldap-group-mapper", { group: groupOf(name) }),
      ...(vendor === "ad"
        ? [ldapMapper("account controls", "msad-user-account-control-mapper", {})]
        : []),
      ...(groups === null
        ? []
        : [
            ldapMapper("groups", "group-ldap-mapper", {
              ...{ mode: "READ_ONLY", "groups.path": groupOf(name), "groups.dn": groups.dn },
              "group.name.ldap.attribute": "cn",
              "group.object.classes": groups.objectClass,
              "preserve.group.inheritance": "false",
              "ignore.missing.groups": "true",
              "membership.ldap.attribute": groups.memberAttribute,
              "membership.attribute.type": groups.memberAttribute === "memberUid" ? "UID" : "DN",
              "membership.user.ldap.attribute": connection.usernameAttribute,
              "user.roles.retrieve.strategy": "LOAD_GROUPS_BY_MEMBER_ATTRIBUTE",
              "drop.non.existing.groups.during.sync": "false",
              ...(groups.filter === null ? {} : { "groups.ldap.filter": groups.filter }),
            }),
          ]),
    ],
  };
}

function oidcOf(connection: OidcConnection): Directory {
  const { name, clientId, provider, usernameFrom, groupsFrom } = connection;
  return {
    kind: "broker",
    name,
    settings: {
      ...common(name, connection.label, "oidc"),
      config: {
        ...provider,
        ...{ clientId, clientAuthMethod: "client_secret_basic", defaultScope: "openid profile" },
        ...{ syncMode: "FORCE", pkceEnabled: "true", pkceMethod: "S256" },
        ...{ validateSignature: "true", useJwksUrl: "true", disableNonce: "false" },
        ...{ disableUserInfo: "true", backchannelSupported: "true", isAccessTokenJWT: "false" },
      },
    },
    mappers: [
      brokerMapper(name, "username", "oidc-username-idp-mapper", {
        template: `\${CLAIM.${usernameFrom}}`,
        target: "LOCAL",
      }),
      ...(groupsFrom === null
        ? []
        : [
            brokerMapper(name, "groups", "oidc-user-attribute-idp-mapper", {
              claim: groupsFrom,
              "user.attribute": GROUPS_ATTRIBUTE,
            }),
          ]),
    ],
  };
}

function samlOf(connection: SamlConnection): Directory {
  const { name, provider, usernameFrom, groupsFrom } = connection;
  return {
    kind: "broker",
    name,
    settings: {
      ...common(name, connection.label, "saml"),
      config: {
        ...provider,
        ...{ syncMode: "FORCE", validateSignature: "true", wantAssertionsSigned: "true" },
        // A name that is another one at each sign-in would make each of them somebody new.
        nameIDPolicyFormat: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
        ...{ principalType: "SUBJECT", postBindingResponse: "true", allowCreate: "true" },
      },
    },
    mappers: [
      brokerMapper(name, "username", "saml-username-idp-mapper", {
        template: usernameFrom === "NAMEID" ? "${NAMEID}" : `\${ATTRIBUTE.${usernameFrom}}`,
        target: "LOCAL",
      }),
      ...(groupsFrom === null
        ? []
        : [
            brokerMapper(name, "groups", "saml-user-attribute-idp-mapper", {
              "attribute.name": groupsFrom,
              "user.attribute": GROUPS_ATTRIBUTE,
            }),
          ]),
    ],
  };
}

function common(alias: string, displayName: string, providerId: string): Values {
  return {
    ...{ alias, displayName, providerId, enabled: true, linkOnly: false },
    ...{ trustEmail: false, storeToken: false, firstBrokerLoginFlowAlias: FIRST_SIGN_IN_FLOW },
    postBrokerLoginFlowAlias: AFTER_PROVIDER_FLOW,
  };
}

function ldapMapper(name: string, providerId: string, config: Record<string, string>) {
  return { name, providerId, providerType: LDAP_MAPPER_TYPE, config: lists(config) };
}

function brokerMapper(
  alias: string,
  name: string,
  identityProviderMapper: string,
  config: Record<string, string>,
) {
  return {
    ...{ name, identityProviderMapper, identityProviderAlias: alias },
    config: { syncMode: "INHERIT", ...config },
  };
}

/** Keycloak's components have a list in each setting. */
function lists(values: Record<string, string>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
}
