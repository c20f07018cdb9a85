/** Where a realm differs from its definition. Pure; an empty answer means that they agree. */
import type { RealmDefinition } from "../realm-definition.ts";

export type Drift = {
  kind: "realm" | "profile" | "text" | "role" | "flow" | "client" | "directory";
  /** Of the role, flow, client or connected directory; the realm's own name. */
  name: string;
  /** What differs: a setting's name, `missing` or `unknown`. */
  what: string;
  /** As JSON; null where there is none. */
  want: string | null;
  have: string | null;
};

/** Clients and roles that Keycloak makes with every realm. */
const BUILT_IN_CLIENTS = new Set([
  "account",
  "account-console",
  "admin-cli",
  "broker",
  "realm-management",
  "security-admin-console",
]);
const BUILT_IN_ROLES = /^(offline_access|uma_authorization|default-roles-.*)$/;

/** @param have null where there is no such realm */
export function realmDrift(want: RealmDefinition, have: RealmDefinition | null): Drift[] {
  if (have === null)
    return [{ kind: "realm", name: want.realm, what: "missing", want: null, have: null }];
  return [
    ...fieldsOf("realm", want.realm, want.settings, have.settings),
    ...fieldsOf("realm", want.realm, registrationOf(want), registrationOf(have)),
    ...fieldsOf("profile", want.realm, want.userProfile, have.userProfile),
    ...fieldsOf("text", want.realm, want.texts, have.texts),
    ...Object.keys(have.texts)
      .filter((key) => !(key in want.texts))
      .map((key) => ({
        ...({ kind: "text", name: want.realm, what: key, want: null } as const),
        have: json(have.texts[key]),
      })),
    ...named("role", want.roles, have.roles, ({ name }) => name, isBuiltInRole),
    ...named(
      "flow",
      want.flows,
      have.flows,
      ({ alias }) => alias,
      () => false,
    ),
    ...named("client", want.clients, have.clients, ({ clientId }) => clientId, isBuiltInClient),
    ...named(
      "directory",
      want.directories,
      have.directories,
      ({ name }) => name,
      () => false,
    ),
  ];
}

function registrationOf({ registrableMappers }: RealmDefinition): Record<string, unknown> {
  return { registrableMappers };
}

function isBuiltInRole(name: string): boolean {
  return BUILT_IN_ROLES.test(name);
}

function isBuiltInClient(name: string): boolean {
  return BUILT_IN_CLIENTS.has(name);
}

function named<T extends object>(
  kind: Drift["kind"],
  want: readonly T[],
  have: readonly T[],
  nameOf: (one: T) => string,
  isBuiltIn: (name: string) => boolean,
): Drift[] {
  const there = new Map(have.map((one) => [nameOf(one), one]));
  const wanted = new Set(want.map(nameOf));
  return [
    ...want.flatMap((one) => {
      const name = nameOf(one);
      const found = there.get(name);
      if (found === undefined) return [{ kind, name, what: "missing", want: null, have: null }];
      return fieldsOf(kind, name, flat(one), flat(found));
    }),
    ...[...there.keys()]
      .filter((name) => !wanted.has(name) && !isBuiltIn(name))
      .map((name) => ({ kind, name, what: "unknown", want: null, have: null })),
  ];
}

/** A client's settings stand beside its mappers and roles. */
function flat(one: object): Record<string, unknown> {
  const { settings, ...rest } = one as { settings?: Record<string, unknown> };
  return { ...settings, ...rest };
}

function fieldsOf(
  kind: Drift["kind"],
  name: string,
  want: Record<string, unknown>,
  have: Record<string, unknown>,
): Drift[] {
  return Object.entries(want)
    .filter(([field, value]) => value !== undefined && !agrees(value, have[field]))
    .map(([what, value]) => ({ kind, name, what, want: json(value), have: json(have[what]) }));
}

/** What is wanted is there; of objects what the definition names counts, lists of words are sets, other lists have one order. */
function agrees(want: unknown, have: unknown): boolean {
  if (Array.isArray(want)) {
    if (!Array.isArray(have) || want.length !== have.length) return false;
    if (want.every((one) => typeof one === "string")) {
      const there = new Set<unknown>(have);
      return want.every((one) => there.has(one));
    }
    if (want.every((one) => typeof one === "object" && one !== null && "name" in one)) {
      const byName = new Map(have.map((one: { name?: unknown }) => [one.name, one]));
      return want.every((one: { name: unknown }) => agrees(one, byName.get(one.name)));
    }
    return want.every((one, at) => agrees(one, have[at]));
  }
  if (typeof want === "object" && want !== null) {
    if (typeof have !== "object" || have === null) return false;
    return Object.entries(want).every(([name, value]) =>
      agrees(value, (have as Record<string, unknown>)[name]),
    );
  }
  return want === have;
}

function json(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
