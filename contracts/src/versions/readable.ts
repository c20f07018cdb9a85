/**
 * How one program of ours reads what another of ours wrote, which may be of another release. Schemas are closed, because what is sent is built
 * exactly. Who receives passes over fields that it does not know, and hands none of them on.
 *
 * A union is told apart by literals: of any two of its objects some member is a different constant. What a stranger may send (a user's HTTP body, a
 * job's own files) is read by the closed schema itself.
 */
import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";

/** The parts of JSON Schema that the contracts use. */
type Node = {
  anyOf?: readonly Node[];
  properties?: Readonly<Record<string, Node>>;
  required?: readonly string[];
  items?: Node;
  const?: unknown;
  [keyword: string]: unknown;
};
type Project = (value: unknown) => unknown;

/** Has no meaning when it is opened. A schema of ours is at fault, so the program does not start. */
export class NotReadable extends TypeError {
  override readonly name = "NotReadable";
}

/**
 * The same schema with every object open for more fields. A record (a map with a pattern for its names) stays closed: its names are data.
 * @throws NotReadable where opened objects of a union could be taken for each other
 */
export function readable<T extends TSchema>(schema: T): T {
  return opened(plain(schema)) as unknown as T; // The same shape, without the library's marks.
}

/**
 * Reads by the opened schema: the value with the known fields alone, or null where it does not match.
 * Compiles once; keep what it returns.
 * @throws NotReadable as {@link readable}
 */
export function reader<T extends TSchema>(schema: T): (value: unknown) => Static<T> | null {
  const node = opened(plain(schema));
  const validator = Compile(node as TSchema);
  const project = projection(node);
  return (value) => (validator.Check(value) ? (project(value) as Static<T>) : null);
}

/** Names at the top of a value that the schema does not know, for people: a field of a newer release, or a misspelt one. */
export function unknownFields(schema: TSchema, value: object): string[] {
  const { properties = {} } = plain(schema);
  return Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
}

function plain(schema: TSchema): Node {
  return JSON.parse(JSON.stringify(schema)) as Node;
}

function opened(node: Node): Node {
  for (const keyword of ["allOf", "oneOf", "not", "if", "$ref", "prefixItems"])
    if (keyword in node)
      throw new NotReadable(`a schema with ${keyword} can't be opened for reading`);
  const { anyOf, properties, items } = node;
  if (anyOf !== undefined) {
    const members = anyOf.map(opened);
    assertApart(members);
    return { ...node, anyOf: members };
  }
  if (items !== undefined) return { ...node, items: opened(items) };
  if (properties === undefined) return node;
  const { additionalProperties: _closed, ...rest } = node;
  return {
    ...rest,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, one]) => [name, opened(one)]),
    ),
  };
}

function assertApart(members: readonly Node[]): void {
  const objects = members.filter(({ properties }) => properties !== undefined);
  for (const [at, one] of objects.entries())
    for (const other of objects.slice(at + 1))
      if (
        !constantsOf(one).some(([name, value]) =>
          constantsOf(other).some(([also, its]) => also === name && its !== value),
        )
      )
        throw new NotReadable(
          `objects of a union can't be told apart: ${JSON.stringify(one).slice(0, 200)}`,
        );
}

/** Required members that have one value only. */
function constantsOf({ properties = {}, required = [] }: Node): [name: string, value: unknown][] {
  return Object.entries(properties).flatMap(([name, one]) =>
    "const" in one && required.includes(name) ? [[name, one.const] as [string, unknown]] : [],
  );
}

/** Takes values that the opened schema has found to match. */
function projection(node: Node): Project {
  const { anyOf, properties, items } = node;
  if (anyOf !== undefined) return projectionOfUnion(anyOf);
  if (items !== undefined) {
    const project = projection(items);
    return (value) => (value as unknown[]).map(project);
  }
  if (properties === undefined) return (value) => value;
  const members = Object.entries(properties).map(([name, one]) => [name, projection(one)] as const);
  return (value) => {
    const known: Record<string, unknown> = {};
    for (const [name, project] of members)
      if (Object.hasOwn(value as object, name))
        known[name] = project((value as Record<string, unknown>)[name]);
    return known;
  };
}

function projectionOfUnion(anyOf: readonly Node[]): Project {
  const objects = anyOf
    .filter(({ properties }) => properties !== undefined)
    .map((node) => ({ constants: constantsOf(node), project: projection(node) }));
  const lists = anyOf.filter(({ items }) => items !== undefined).map(projection);
  return (value) => {
    if (Array.isArray(value)) return lists[0] === undefined ? value : lists[0](value);
    if (typeof value !== "object" || value === null) return value;
    const its = objects.find(({ constants }) =>
      constants.every(([name, constant]) => (value as Record<string, unknown>)[name] === constant),
    );
    return its === undefined ? value : its.project(value);
  };
}
