/**
 * Checks values against the subset of JSON Schema that the catalogue uses. The schemas are built in; the values are hostile. A schema becomes
 * functions once, and where a value fails is put into words only when it does.
 */

export type Schema = {
  type?: "object" | "string" | "integer" | "boolean" | "null" | "array";
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: boolean;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
};

/** What is wrong, in words that name the place of the value that was checked. */
type Fault = (path: string) => string;
/** Null when the value keeps the schema. */
export type Check = (value: unknown) => Fault | null;

const wrong: Fault = (path) => `a wrong ${path}`;
const unknownMember: Fault = (path) => `an unknown member ${path}`;
const missingMember: Fault = (path) => `no ${path}`;
const patterns = new Map<string, RegExp>();

export function checkOf(schema: Schema): Check {
  if (schema.anyOf !== undefined) {
    const checks = schema.anyOf.map(checkOf);
    return (value) => (checks.some((check) => check(value) === null) ? null : wrong);
  }
  if (schema.const !== undefined) return (value) => (value === schema.const ? null : wrong);
  if (schema.enum !== undefined) {
    const allowed = new Set(schema.enum);
    return (value) => (allowed.has(value) ? null : wrong);
  }
  switch (schema.type) {
    case "object":
      return objectCheck(schema);
    case "array":
      return arrayCheck(schema);
    case "string":
      return stringCheck(schema);
    case "integer":
      return integerCheck(schema);
    case "boolean":
      return (value) => (typeof value === "boolean" ? null : wrong);
    case "null":
      return (value) => (value === null ? null : wrong);
    case undefined:
      return () => (path) => `a ${path} that no schema knows`;
  }
}

/** @param passedOver members that are checked elsewhere */
export function objectCheck(
  { properties = {}, required = [] }: Schema,
  passedOver: readonly string[] = [],
): Check {
  const checks = new Map(
    Object.entries(properties).map(([name, schema]) => [name, checkOf(schema)]),
  );
  for (const name of passedOver) checks.set(name, () => null);
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return wrong;
    // A parsed object has no names but its own.
    for (const name in value) {
      const check = checks.get(name);
      if (check === undefined) return within(`.${name.slice(0, 64)}`, unknownMember);
      const fault = check((value as Record<string, unknown>)[name]);
      if (fault !== null) return within(`.${name}`, fault);
    }
    for (const name of required)
      if (!Object.hasOwn(value, name)) return within(`.${name}`, missingMember);
    return null;
  };
}

function within(step: string, fault: Fault): Fault {
  return (path) => fault(path + step);
}

function arrayCheck({ items, minItems = 0, maxItems = Number.POSITIVE_INFINITY }: Schema): Check {
  if (items === undefined) return () => wrong;
  const check = checkOf(items);
  return (value) => {
    if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) return wrong;
    for (const member of value) {
      const fault = check(member);
      if (fault !== null) return within("[]", fault);
    }
    return null;
  };
}

function stringCheck({ pattern, maxLength = Number.POSITIVE_INFINITY }: Schema): Check {
  const compiled = pattern === undefined ? null : compiledOf(pattern);
  // Most of what an entry says is what the one before it said in that place.
  let kept: string | null = null;
  return (value) => {
    if (value === kept && kept !== null) return null;
    if (
      typeof value !== "string" ||
      value.length > maxLength ||
      (compiled !== null && !compiled.test(value))
    )
      return wrong;
    kept = value;
    return null;
  };
}

function integerCheck({
  minimum = Number.MIN_SAFE_INTEGER,
  maximum = Number.MAX_SAFE_INTEGER,
}: Schema): Check {
  return (value) =>
    Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum
      ? null
      : wrong;
}

function compiledOf(pattern: string): RegExp {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  const compiled = new RegExp(pattern, "u");
  patterns.set(pattern, compiled);
  return compiled;
}
