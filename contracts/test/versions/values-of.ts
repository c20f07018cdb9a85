/** Values that match a schema, and the same with fields that it does not know. For the parts of JSON Schema that the contracts use. */
import fc from "fast-check";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";

type Node = {
  type?: string;
  anyOf?: Node[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Node>;
  patternProperties?: Record<string, Node>;
  required?: string[];
  items?: Node;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
};

/** What a later release says beside what is known, under names that a careless copy would stumble over, too. */
const UNKNOWN: readonly (readonly [string, unknown])[] = [
  ["ofANewerRelease", { nested: [1, { deeper: null }] }],
  ["constructor", "text"],
  ["__proto__", { polluted: true }],
];

export function valuesOf(schema: TSchema): fc.Arbitrary<unknown> {
  return arbitrary(plain(schema));
}

/** The value with fields that the schema does not know in every object that the schema describes. */
export function withUnknownFields(schema: TSchema, value: unknown): unknown {
  return cluttered(plain(schema), value);
}

function plain(schema: TSchema): Node {
  return JSON.parse(JSON.stringify(schema)) as Node;
}

function arbitrary(node: Node): fc.Arbitrary<unknown> {
  if (node.anyOf !== undefined) return fc.oneof(...node.anyOf.map(arbitrary));
  if ("const" in node) return fc.constant(node.const);
  if (node.enum !== undefined) return fc.constantFrom(...node.enum);
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER, minItems = 0, maxItems = 3 } = node;
  switch (node.type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.integer({ min: minimum, max: Math.min(maximum, Number.MAX_SAFE_INTEGER) });
    case "number":
      return fc.double({ min: minimum, max: Math.min(maximum, 1e12), noNaN: true });
    case "string":
      return text(node);
    case "array":
      return fc.array(arbitrary(node.items!), {
        minLength: minItems,
        maxLength: Math.max(minItems, Math.min(3, maxItems)),
      });
    case "object":
      return node.properties === undefined
        ? record(node)
        : object(node.properties, node.required ?? []);
    default:
      throw new TypeError(`no values of ${JSON.stringify(node).slice(0, 100)}`);
  }
}

function object(properties: Record<string, Node>, required: string[]): fc.Arbitrary<unknown> {
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, one]) => [name, arbitrary(one)]),
  );
  return fc.record(members, { requiredKeys: required, noNullPrototype: true });
}

function record({ patternProperties = {} }: Node): fc.Arbitrary<unknown> {
  const [[pattern, one] = ["", {}]] = Object.entries(patternProperties);
  return fc.dictionary(text({ pattern }), arbitrary(one), { maxKeys: 2, noNullPrototype: true });
}

function text({
  pattern,
  minLength = 0,
  maxLength = Number.POSITIVE_INFINITY,
}: Node): fc.Arbitrary<string> {
  if (pattern === undefined)
    return fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 20) });
  const exact = new RegExp(pattern);
  // fast-check makes no text for what must not follow.
  const makeable = new RegExp(pattern.replaceAll(/\(\?!(?:[^()]|\([^()]*\))*\)/g, ""));
  return fc
    .stringMatching(makeable, { size: "small" })
    .filter((made) => exact.test(made) && made.length >= minLength && made.length <= maxLength);
}

function cluttered(node: Node, value: unknown): unknown {
  if (node.anyOf !== undefined) {
    const its = node.anyOf.find((one) => Value.Check(one as TSchema, value));
    return its === undefined ? value : cluttered(its, value);
  }
  if (Array.isArray(value))
    return value.map((one) => (node.items === undefined ? one : cluttered(node.items, one)));
  const { properties } = node;
  if (properties === undefined || typeof value !== "object" || value === null) return value;
  const known = Object.entries(value).map(
    ([name, one]) => [name, cluttered(properties[name]!, one)] as const,
  );
  // By definition, not by assignment: `__proto__` must become a field as JSON.parse makes one.
  return Object.fromEntries([...known, ...UNKNOWN]);
}
