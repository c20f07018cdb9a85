/** A value that a JSON schema of the API takes: what a generated request sends where its own test is about something else. */

export type Schema = {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  pattern?: string;
  minLength?: number;
  minimum?: number;
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  minItems?: number;
};

/** Tried in order against a pattern. A route whose pattern takes none of them needs one more here. */
const TEXTS = [
  ...["sample", "A".repeat(43), "2026-01-01T00:00:00Z", "/jobs/sample", "1", "lab/sample"],
  ...["0".repeat(64), `sha256:${"0".repeat(64)}`],
];

/** @throws Error for a pattern that no text here matches */
export function sampleOf(schema: Schema): unknown {
  if ("const" in schema) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return sampleOf(schema.anyOf[0]!);
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, sampleOf(schema.properties![name]!)]),
      );
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items!));
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return false;
    case "null":
      return null;
    default: {
      const found = TEXTS.find((text) => new RegExp(schema.pattern ?? "", "u").test(text));
      if (found === undefined) throw new Error(`no sample matches ${schema.pattern}`);
      return found;
    }
  }
}
