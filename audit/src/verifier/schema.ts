/** Checks values against the subset of JSON Schema that the catalogue uses. The schemas are built in; the values are hostile. */

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

const patterns = new Map<string, RegExp>();

/** Null when the value keeps the schema; else where it does not. */
export function schemaFault(value: unknown, schema: Schema, path = "detail"): string | null {
  if (schema.anyOf !== undefined)
    return schema.anyOf.some((one) => schemaFault(value, one, path) === null) ? null : `a wrong ${path}`;
  if (schema.const !== undefined) return value === schema.const ? null : `a wrong ${path}`;
  if (schema.enum !== undefined) return schema.enum.includes(value) ? null : `a wrong ${path}`;
  switch (schema.type) {
    case "object":
      return objectFault(value, schema, path);
    case "array":
      return arrayFault(value, schema, path);
    case "string":
      return typeof value === "string" && stringFits(value, schema) ? null : `a wrong ${path}`;
    case "integer":
      return isBetween(value, schema) ? null : `a wrong ${path}`;
    case "boolean":
      return typeof value === "boolean" ? null : `a wrong ${path}`;
    case "null":
      return value === null ? null : `a wrong ${path}`;
    case undefined:
      return `a ${path} that no schema knows`;
  }
}

function objectFault(value: unknown, { properties = {}, required = [] }: Schema, path: string): string | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `a wrong ${path}`;
  for (const [name, member] of Object.entries(value)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (schema === undefined) return `an unknown member ${path}.${name.slice(0, 64)}`;
    const fault = schemaFault(member, schema, `${path}.${name}`);
    if (fault !== null) return fault;
  }
  const missing = required.find((name) => !Object.hasOwn(value, name));
  return missing === undefined ? null : `no ${path}.${missing}`;
}

function arrayFault(
  value: unknown,
  { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY }: Schema,
  path: string,
): string | null {
  if (!Array.isArray(value) || value.length < minItems || value.length > maxItems || items === undefined)
    return `a wrong ${path}`;
  for (const member of value) {
    const fault = schemaFault(member, items, `${path}[]`);
    if (fault !== null) return fault;
  }
  return null;
}

function stringFits(value: string, { pattern, maxLength }: Schema): boolean {
  if (maxLength !== undefined && value.length > maxLength) return false;
  if (pattern === undefined) return true;
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    compiled = new RegExp(pattern, "u");
    patterns.set(pattern, compiled);
  }
  return compiled.test(value);
}

function isBetween(value: unknown, { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER }: Schema): boolean {
  return Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
}
