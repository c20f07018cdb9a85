/** The value of a schema whose canonical JSON is longest. It knows the keywords that our schemas use; whatever else bounds or frees one is an error. */
import type { TSchema } from "typebox";

type Schema = {
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  type?: string;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean;
};

/** First those that take more bytes: escapes, three bytes of UTF-8, quotes. */
const CHARACTERS = [
  "\u0001",
  "\uffff",
  '"',
  ...Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)),
];

/** @throws RangeError for a schema that leaves the length open */
export function longestValue(schema: TSchema): unknown {
  return longest(JSON.parse(JSON.stringify(schema)) as Schema);
}

function longest(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return longestOf(schema.enum);
  if (schema.anyOf !== undefined) return longestOf(schema.anyOf.map(longest));
  switch (schema.type) {
    case "null":
      return null;
    case "boolean":
      return false;
    case "integer":
      return longestOf([
        schema.minimum ?? Number.MIN_SAFE_INTEGER,
        schema.maximum ?? Number.MAX_SAFE_INTEGER,
      ]);
    case "string":
      if (schema.pattern === undefined) break;
      return longestText(schema.pattern);
    case "array":
      if (schema.maxItems === undefined || schema.items === undefined) break;
      return Array.from({ length: schema.maxItems }, () => longest(schema.items!));
    case "object":
      if (schema.additionalProperties !== false) break;
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, of]) => [name, longest(of)]),
      );
    default:
      break;
  }
  throw new RangeError(`no longest value of ${JSON.stringify(schema)}`);
}

function longestOf(values: readonly unknown[]): unknown {
  const size = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  return values.reduce((most, one) => (size(one) > size(most) ? one : most));
}

/** Of an anchored pattern of characters, classes, groups and bounded repetition. */
function longestText(pattern: string): string {
  if (!pattern.startsWith("^") || !pattern.endsWith("$"))
    throw new RangeError(`${pattern} does not bound its text`);
  const [text, rest] = longestSequence(pattern.slice(1, -1));
  if (rest !== "") throw new RangeError(`${pattern} is not understood from ${rest} on`);
  return text;
}

/** @returns the text of what stands before the end or a closing bracket, and what follows */
function longestSequence(pattern: string): [text: string, rest: string] {
  let text = "";
  let rest = pattern;
  while (rest !== "" && !rest.startsWith(")")) {
    let [unit, behind] = longestUnit(rest);
    const repetition = /^(?:\?|\{([0-9]+)(?:,([0-9]+))?\})/.exec(behind);
    if (repetition !== null) {
      const [all, least, most] = repetition;
      unit = unit.repeat(Number(most ?? least ?? 1));
      behind = behind.slice(all.length);
    }
    text += unit;
    rest = behind;
  }
  return [text, rest];
}

function longestUnit(pattern: string): [text: string, rest: string] {
  if (pattern.startsWith("(")) {
    const [text, rest] = longestSequence(pattern.slice(1));
    return [text, rest.slice(1)];
  }
  const [unit] = /^(?:\[(?:[^\]\\]|\\.)+\]|\\.|[^.|*+?{}^$])/.exec(pattern) ?? [];
  if (unit === undefined) throw new RangeError(`${pattern} is not understood`);
  const one = new RegExp(`^${unit}$`);
  const character = CHARACTERS.find((candidate) => one.test(candidate));
  if (character === undefined) throw new RangeError(`no character for ${unit}`);
  return [character, pattern.slice(unit.length)];
}
