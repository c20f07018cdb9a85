/**
 * The realm as code: `policies/realm.json`, which says of Keycloak's settings all that this product relies on. What the file does not name is
 * Keycloak's own default. Addresses and public keys of an appliance are not in the file: `{origin}` and `{jwks:NAME}` stand for them.
 */
import type { Connection } from "@resontech/contracts/identity-connections";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { type Directory, directoryOf } from "../directories/decisions/directory-form.ts";

const closed = { additionalProperties: false } as const;
const Name = Type.String({ minLength: 1, maxLength: 255 });
const Values = Type.Record(Type.String(), Type.Unknown());
const Requirement = Type.Enum(["REQUIRED", "ALTERNATIVE", "CONDITIONAL", "DISABLED"]);

/** A step of a flow: one authenticator, or a flow of further steps. */
export type FlowStep =
  | {
      use: string;
      requirement: Static<typeof Requirement>;
      config?: Record<string, string>;
    }
  | { flow: string; requirement: Static<typeof Requirement>; steps: FlowStep[] };

const FlowStep = Type.Cyclic(
  {
    Step: Type.Union([
      Type.Object(
        {
          use: Name,
          requirement: Requirement,
          config: Type.Optional(Type.Record(Type.String(), Type.String())),
        },
        closed,
      ),
      Type.Object(
        { flow: Name, requirement: Requirement, steps: Type.Array(Type.Ref("Step")) },
        closed,
      ),
    ]),
  },
  "Step",
);

const RealmFile = Type.Object(
  {
    /** Of the realm itself, by Keycloak's names. */
    settings: Values,
    /** What is known of a person, as Keycloak's user profile has it. */
    userProfile: Values,
    /** Words of Keycloak's pages, by Keycloak's keys, where its own would mislead. */
    texts: Type.Record(Type.String(), Type.String()),
    /** Kinds of mapper that a client may have which is registered by whoever may create clients and no more. */
    registrableMappers: Type.Array(Name),
    roles: Type.Array(Type.Object({ name: Name, description: Type.String() }, closed)),
    flows: Type.Array(Type.Object({ alias: Name, steps: Type.Array(FlowStep) }, closed)),
    clients: Type.Array(
      Type.Object(
        {
          /** By Keycloak's names; `clientId` among them. */
          settings: Type.Intersect([Type.Object({ clientId: Name }), Values]),
          mappers: Type.Optional(Type.Array(Type.Intersect([Type.Object({ name: Name }), Values]))),
          /** Roles of the realm that its tokens may name. */
          roles: Type.Optional(Type.Array(Name)),
          /** Roles of Keycloak's own client `realm-management` that the client itself has. */
          manages: Type.Optional(Type.Array(Name)),
          /** Alias of the flow by which people sign in to it; the realm's own where it has none. */
          browserFlow: Type.Optional(Name),
        },
        closed,
      ),
    ),
  },
  closed,
);

export type RealmClient = {
  clientId: string;
  settings: Record<string, unknown>;
  /** The four lists are undefined where the definition leaves them as Keycloak has them. */
  mappers?: ({ name: string } & Record<string, unknown>)[] | undefined;
  roles?: string[] | undefined;
  manages?: string[] | undefined;
  /** Roles of `realm-management` that its tokens may name; a client has what both lists hold. */
  managesInScope?: string[] | undefined;
  /** Null: the realm's own. A weaker one in its place would be drift. */
  browserFlow: string | null;
};
export type RealmFlow = { alias: string; steps: FlowStep[] };
export type RealmDefinition = {
  realm: string;
  settings: Record<string, unknown>;
  userProfile: Record<string, unknown>;
  texts: Record<string, string>;
  /** Null: nothing holds who registers a client to any kind. */
  registrableMappers: string[] | null;
  roles: { name: string; description: string }[];
  flows: RealmFlow[];
  clients: RealmClient[];
  directories: Directory[];
};

/** What stands for itself in no file: where this appliance is, and the public keys of its programs. */
export type RealmValues = {
  /** `https://<name>:<port>` */
  origin: string;
  /** Name of a program → its JWKS as JSON. */
  jwks: Readonly<Record<string, string>>;
};

/** The realm's file is not one. */
export class RealmFileError extends Error {
  override readonly name = "RealmFileError";
  readonly code = "realm_file_invalid";
}

export const REALM = "resontech";
/** The one language of its pages. */
export const LOCALE = "en";

/** @param connections what the customer connected, which is no part of the file @throws RealmFileError */
export function realmDefinition(
  text: string,
  { origin, jwks }: RealmValues,
  connections: readonly Connection[] = [],
): RealmDefinition {
  const value: unknown = fill(JSON.parse(text), (name) =>
    name === "origin" ? origin : name.startsWith("jwks:") ? jwks[name.slice(5)] : undefined,
  );
  const [fault] = Value.Errors(RealmFile, value);
  if (fault !== undefined)
    throw new RealmFileError(`policies/realm.json${fault.instancePath} ${fault.message}`);
  const { clients, ...rest } = value as Static<typeof RealmFile>;
  return {
    ...{ ...rest, realm: REALM },
    directories: connections.map(directoryOf),
    clients: clients.map((client) => ({
      clientId: client.settings.clientId,
      settings: client.settings,
      ...{ mappers: client.mappers, roles: client.roles },
      ...{ manages: client.manages, managesInScope: client.manages },
      browserFlow: client.browserFlow ?? null,
    })),
  };
}

/** `${x}` is Keycloak's own form, and never ours. */
const PLACEHOLDER = /\$\{[^}]*\}|\{(origin|jwks:[a-z-]+)\}/g;

/** Keycloak would keep an unknown name as it is, a value that everybody can guess. */
function fill(value: unknown, valueOf: (name: string) => string | undefined): unknown {
  if (typeof value === "string")
    return value.replaceAll(PLACEHOLDER, (whole, name: string | undefined) => {
      const found = name === undefined ? undefined : valueOf(name);
      if (found === undefined)
        throw new RealmFileError(`policies/realm.json names ${whole}, which nothing stands for`);
      return found;
    });
  if (Array.isArray(value)) return value.map((one) => fill(one, valueOf));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, fill(one, valueOf)]),
    );
  return value;
}
