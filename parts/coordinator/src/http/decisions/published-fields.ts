/** What the API's document says of fields that a caller may leave out. Pure. */

type ObjectSchema = { required?: readonly string[]; properties?: Record<string, unknown> };

/** A field with a default is filled in before it is checked, so nobody must send it. @param schema of a query or a body; anything else stays as it is */
export function withDefaultsOptional<Schema>(schema: Schema): Schema {
  if (!isObjectSchema(schema)) return schema;
  const { required = [], properties = {} } = schema;
  const needed = required.filter((name) => !hasDefault(properties[name]));
  if (needed.length === required.length) return schema;
  const { required: _required, ...rest } = schema;
  return (needed.length === 0 ? rest : { ...rest, required: needed }) as Schema;
}

function isObjectSchema(schema: unknown): schema is ObjectSchema {
  return typeof schema === "object" && schema !== null && "properties" in schema;
}

function hasDefault(property: unknown): boolean {
  return typeof property === "object" && property !== null && "default" in property;
}
