/**
 * Reads values straight from their bytes, by their schema: nothing is taken but what is canonical JSON and keeps the schema. It knows only what nearly
 * every entry is made of (ASCII without escapes, integers of few digits); of all else, right or wrong, it says nothing, and the thorough
 * reading judges.
 */
import { textOf, utf8 } from "../input/bytes.ts";
import { MAX_DEPTH } from "./canonical.ts";
import { type FixedForm, fixedForm, hasForm } from "./fixed-form.ts";
import { type Check, checkOf, type Schema } from "./schema.ts";

/** Where a reading stands; it may look beyond the end of its value, and who asked must see that it ended within. */
export type Cursor = { bytes: Uint8Array; at: number };
/** The value, with the cursor behind it; undefined for one that is not plain, and then the cursor stands anywhere. */
export type ReadPlain = (cursor: Cursor) => unknown;

export const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** As many as are below 2^53, whatever they are. */
const MAX_DIGITS = 15;
/** Longer ones differ from entry to entry. */
const MAX_KEPT_BYTES = 512;

/** @param depth objects and arrays that may nest, the value itself included */
export function plainReader(schema: Schema, depth: number = MAX_DEPTH): ReadPlain {
  if (schema.anyOf !== undefined) return oneOf(schema.anyOf.map((one) => plainReader(one, depth)));
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return oneOf(schema.enum.map(literal));
  switch (schema.type) {
    case "object":
      return keeping(objectReader(schema, depth));
    case "array":
      return keeping(arrayReader(schema, depth));
    case "string":
      return keeping(stringReader(schema));
    case "integer":
      return integerReader(schema);
    case "boolean":
      return oneOf([true, false].map(literal));
    case "null":
      return literal(null);
    case undefined:
      return () => undefined;
  }
}

/**
 * Reads the members of an object in the one order that is canonical, each into its place; false where they are not plain.
 * @param others readers of members that no schema tells
 */
export function membersReader(
  { properties = {}, required = [] }: Schema,
  depth: number,
  others: Readonly<Record<string, ReadPlain>> = {},
): { names: readonly string[]; read: (cursor: Cursor, values: unknown[]) => boolean } {
  const names = [...new Set([...Object.keys(properties), ...Object.keys(others)])].sort((a, b) =>
    a < b ? -1 : 1,
  );
  const tokens = names.map((name) => utf8(`${JSON.stringify(name)}:`));
  const readers = names.map((name) => others[name] ?? plainReader(properties[name]!, depth - 1));
  const isRequired = names.map((name) => required.includes(name));
  const read = (cursor: Cursor, values: unknown[]): boolean => {
    const { bytes } = cursor;
    if (depth < 1 || bytes[cursor.at] !== OPENING_BRACE) return false;
    cursor.at += 1;
    let isOpen = bytes[cursor.at] !== CLOSING_BRACE;
    if (!isOpen) cursor.at += 1;
    for (let slot = 0; slot < tokens.length; slot++) {
      values[slot] = undefined;
      if (!isOpen || !take(cursor, tokens[slot]!)) {
        if (isRequired[slot]) return false;
        continue;
      }
      const value = readers[slot]!(cursor);
      if (value === undefined) return false;
      values[slot] = value;
      const next = bytes[cursor.at++];
      if (next === CLOSING_BRACE) isOpen = false;
      else if (next !== COMMA) return false;
    }
    return !isOpen;
  };
  return { names, read };
}

function objectReader(schema: Schema, depth: number): ReadPlain {
  const { names, read } = membersReader(schema, depth);
  const values: unknown[] = names.map(() => undefined);
  return (cursor) => {
    if (!read(cursor, values)) return undefined;
    const object: Record<string, unknown> = {};
    for (let slot = 0; slot < names.length; slot++)
      if (values[slot] !== undefined) object[names[slot]!] = values[slot];
    return object;
  };
}

function arrayReader(
  { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY }: Schema,
  depth: number,
): ReadPlain {
  if (items === undefined) return () => undefined;
  const read = plainReader(items, depth - 1);
  return (cursor) => {
    const { bytes } = cursor;
    if (depth < 1 || bytes[cursor.at++] !== OPENING_BRACKET) return undefined;
    const array: unknown[] = [];
    if (bytes[cursor.at] === CLOSING_BRACKET) cursor.at += 1;
    else
      for (
        let next: number | undefined = COMMA;
        next !== CLOSING_BRACKET;
        next = bytes[cursor.at++]
      ) {
        const member = next === COMMA ? read(cursor) : undefined;
        if (member === undefined || array.push(member) > maxItems) return undefined;
      }
    return array.length < minItems ? undefined : array;
  };
}

function stringReader(schema: Schema): ReadPlain {
  const { pattern, maxLength } = schema;
  const form = pattern === undefined || maxLength !== undefined ? null : fixedForm(pattern);
  return form === null ? anyStringReader(checkOf(schema)) : formReader(form);
}

function formReader(form: FixedForm): ReadPlain {
  const skip = plainSkipper(form);
  return (cursor) => {
    const from = cursor.at + 1;
    return skip(cursor) === undefined
      ? undefined
      : (textOf(cursor.bytes.subarray(from, cursor.at - 1)) ?? undefined);
  };
}

/** Makes a reader for strings that nobody looks at: it judges them, and makes none. */
export function plainSkipper(form: FixedForm): ReadPlain {
  return (cursor) => {
    const { bytes, at } = cursor;
    const end = at + 1 + form.length;
    if (bytes[at] !== QUOTE || bytes[end] !== QUOTE || !hasForm(bytes, at + 1, form))
      return undefined;
    cursor.at = end + 1;
    return true;
  };
}

function anyStringReader(check: Check): ReadPlain {
  return (cursor) => {
    const { bytes, at } = cursor;
    if (bytes[at] !== QUOTE) return undefined;
    let end = at + 1;
    for (; bytes[end] !== QUOTE; end++) {
      const byte = bytes[end];
      if (byte === undefined || byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return undefined;
    }
    cursor.at = end + 1;
    const text = textOf(bytes.subarray(at + 1, end));
    return text === null || check(text) !== null ? undefined : text;
  };
}

function integerReader(schema: Schema): ReadPlain {
  const check = checkOf(schema);
  return (cursor) => {
    const { bytes } = cursor;
    const isNegative = bytes[cursor.at] === MINUS;
    const first = isNegative ? cursor.at + 1 : cursor.at;
    let value = 0;
    let end = first;
    for (let digit = bytes[end]! - ZERO; digit >= 0 && digit <= 9; digit = bytes[++end]! - ZERO)
      value = value * 10 + digit;
    const count = end - first;
    // Zero has no sign, and nothing else begins with it.
    if (count === 0 || count > MAX_DIGITS || (bytes[first] === ZERO && (count > 1 || isNegative)))
      return undefined;
    cursor.at = end;
    const signed = isNegative ? -value : value;
    return check(signed) === null ? signed : undefined;
  };
}

function literal(value: unknown): ReadPlain {
  const token = utf8(JSON.stringify(value));
  return (cursor) => (take(cursor, token) ? value : undefined);
}

function oneOf(readers: readonly ReadPlain[]): ReadPlain {
  return (cursor) => {
    const { at } = cursor;
    for (const read of readers) {
      cursor.at = at;
      const value = read(cursor);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

/**
 * Most of what an entry says is what the one before it said in that place: the same bytes are the same value, and need not be read again. For values
 * that end with a character of their own, so that none is the beginning of another.
 */
function keeping(read: ReadPlain): ReadPlain {
  const kept = new Uint8Array(MAX_KEPT_BYTES);
  let length = 0;
  let value: unknown;
  return (cursor) => {
    const { bytes, at } = cursor;
    let same = 0;
    while (same < length && bytes[at + same] === kept[same]) same += 1;
    if (same === length && length > 0) {
      cursor.at = at + length;
      return value;
    }
    const found = read(cursor);
    const size = cursor.at - at;
    if (found === undefined || size > MAX_KEPT_BYTES) return found;
    for (; same < size; same++) kept[same] = bytes[at + same]!;
    length = size;
    value = found;
    return found;
  };
}

/** Goes behind what must stand here. */
function take(cursor: Cursor, token: Uint8Array): boolean {
  const { bytes, at } = cursor;
  for (let index = 0; index < token.length; index++)
    if (bytes[at + index] !== token[index]) return false;
  cursor.at = at + token.length;
  return true;
}
