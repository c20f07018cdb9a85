/**
 * Schema sets of released programs, as data. auditd takes events under each: producers of an earlier release go on for a while after an upgrade, and
 * what they could not hand over before it waits on their disks, composed and signed. `audit/build/keep-schema-set.ts` adds one when a release is made.
 */
import { type TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import data from "./kept-sets.json" with { type: "json" };

/** What all types of the set share, and what each narrows: members of the schema that a leaf of that type has. */
export type KeptSet = {
  release: string;
  shared: { properties: Readonly<Record<string, unknown>>; required: readonly string[] } & Readonly<
    Record<string, unknown>
  >;
  types: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};
/** By what `schema_sha256` of an event names. */
export type KeptSets = Readonly<Record<string, KeptSet>>;

export const KEPT_SETS = data as KeptSets;
/** Set by auditd; a producer sends its events without. */
const ADDED_BY_AUDITD: readonly string[] = ["prod", "t_log"];

/** The schema of each type's leaf, from which the name of the set is made. */
export function leafSchemasOf({ shared, types }: KeptSet): Record<string, object> {
  return Object.fromEntries(
    Object.entries(types).map(([type, narrowed]) => [
      type,
      { ...shared, properties: { ...shared.properties, ...narrowed } },
    ]),
  );
}

/** Judges what producers send by the sets that are kept. */
export class KeptSchemas {
  readonly #sets: KeptSets;
  readonly #validators = new Map<string, Validator>();

  constructor(sets: KeptSets = KEPT_SETS) {
    this.#sets = sets;
  }

  has(sha256: unknown): sha256 is string {
    return typeof sha256 === "string" && Object.hasOwn(this.#sets, sha256);
  }

  get releases(): string[] {
    return Object.values(this.#sets).map(({ release }) => release);
  }

  /** The first violation of the schema that the type has in this set; null when there is none. */
  violation(sha256: string, type: string, event: unknown): string | null {
    const set = this.#sets[sha256];
    const narrowed =
      set !== undefined && Object.hasOwn(set.types, type) ? set.types[type] : undefined;
    if (set === undefined || narrowed === undefined) return `its schema set has no type ${type}`;
    const key = `${sha256} ${type}`;
    const validator = this.#validators.get(key) ?? Compile(sentSchemaOf(set, narrowed));
    this.#validators.set(key, validator);
    if (validator.Check(event)) return null;
    const [error] = validator.Errors(event);
    return error === undefined
      ? "does not match its schema"
      : `${error.instancePath || "/"} ${error.message}`;
  }
}

function sentSchemaOf({ shared }: KeptSet, narrowed: Readonly<Record<string, unknown>>): TSchema {
  const isSent = (name: string): boolean => !ADDED_BY_AUDITD.includes(name);
  const properties = Object.fromEntries(
    Object.entries({ ...shared.properties, ...narrowed }).filter(([name]) => isSent(name)),
  );
  return { ...shared, properties, required: shared.required.filter(isSent) };
}
