/** JSON of a file that the auditor hands over: told to be short and shallow before it is parsed, because each level costs the parser memory, a character each. */
import { textOf } from "./bytes.ts";
import { Refused } from "./note.ts";

const MAX_DEPTH = 16;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * @param what it is, for the one who is told that it is none
 * @throws {@link Refused}
 */
export function readBoundedJson(bytes: Uint8Array, maxBytes: number, what: string): unknown {
  const text = bytes.length > maxBytes || isDeep(bytes) ? null : textOf(bytes);
  if (text === null) throw new Refused(`${what} is no text, too long, or deeper than one is`);
  try {
    return JSON.parse(text);
  } catch {
    throw new Refused(`${what} is no JSON`);
  }
}

/** Undefined for what is no object, or has it not by itself. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function isDeep(bytes: Uint8Array): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) isInString = !isInString;
    else if (isInString) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) depth += 1;
    else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}
