/**
 * Whether a text is canonical JSON (RFC 8785) within the log's profile: judged on the text itself, by a scanner, so that it
 * shares nothing with the writer, which serializes. Names in strictly ascending UTF-16 order also rules out duplicates.
 *
 * Nearly every text is plainly canonical, which the runtime tells in half the time; what is not, the scanner judges.
 */

// oxlint-disable-next-line no-control-regex -- RFC 8785 §3.2.2.2: these are the characters that must be escaped
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f])))*"/y;
const INTEGER = /0|-?[1-9][0-9]{0,15}/y;
/** Objects and arrays that may nest. */
export const MAX_DEPTH = 6;

/** The value of a canonical text; else what is wrong with it. The text must be well-formed Unicode. */
export function readCanonical(text: string): { value: unknown } | { fault: string } {
  const value = parsed(text);
  if (value !== undefined && isPlainlyCanonical(text, value)) return { value };
  const fault = canonicalFault(text);
  return fault === null ? { value: JSON.parse(text) as unknown } : { fault };
}

/** Undefined for what is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * True only for what the scanner takes: the text is what the runtime makes of a value whose names are in order where it lists them, whose
 * numbers are integers of the profile, and whose strings need no escape that the profile has not. Names that look like numbers are listed
 * before others, so that it may be false for a canonical text.
 * @param value the parse of `text`
 */
function isPlainlyCanonical(text: string, value: unknown): boolean {
  // A lone surrogate comes back as the escape that it was.
  return !text.includes("\\ud") && keepsProfile(value, MAX_DEPTH) && JSON.stringify(value) === text;
}

/** @param depth objects and arrays that may nest, the value itself included */
function keepsProfile(value: unknown, depth: number): boolean {
  if (typeof value === "number") return Number.isSafeInteger(value);
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) {
    for (const element of value) if (!keepsProfile(element, depth - 1)) return false;
    return true;
  }
  let previous: string | null = null;
  // A parsed object has no names but its own.
  for (const name in value) {
    if (previous !== null && previous >= name) return false;
    previous = name;
    if (!keepsProfile((value as Record<string, unknown>)[name], depth - 1)) return false;
  }
  return true;
}

/** Says what is wrong and where; null when the text is canonical. The text must be well-formed Unicode. */
export function canonicalFault(text: string): string | null {
  let at = 0;

  function value(depth: number): string | null {
    switch (text[at]) {
      case "{":
        return object(depth);
      case "[":
        return array(depth);
      case '"':
        return isString() ? null : `a string that is not canonical at character ${at}`;
      case "t":
        return word("true");
      case "f":
        return word("false");
      case "n":
        return word("null");
      default:
        return integer();
    }
  }

  function object(depth: number): string | null {
    let previous: string | null = null;
    return items("}", depth, () => {
      const start = at;
      if (!isString()) return `no canonical name at character ${start}`;
      const name = nameIn(text, start, at);
      if (previous !== null && previous >= name)
        return `names out of order or twice at character ${start}`;
      previous = name;
      if (text[at] !== ":") return `no ":" at character ${at}`;
      at += 1;
      return value(depth + 1);
    });
  }

  function array(depth: number): string | null {
    return items("]", depth, () => value(depth + 1));
  }

  function items(close: string, depth: number, item: () => string | null): string | null {
    if (depth > MAX_DEPTH) return `deeper than ${MAX_DEPTH} at character ${at}`;
    at += 1;
    if (text[at] !== close)
      for (;;) {
        const fault = item();
        if (fault !== null) return fault;
        if (text[at] === close) break;
        if (text[at] !== ",") return `neither "," nor "${close}" at character ${at}`;
        at += 1;
      }
    at += 1;
    return null;
  }

  /** Goes behind the string that begins here. */
  function isString(): boolean {
    STRING.lastIndex = at;
    if (!STRING.test(text)) return false;
    at = STRING.lastIndex;
    return true;
  }

  function integer(): string | null {
    INTEGER.lastIndex = at;
    if (!INTEGER.test(text) || !Number.isSafeInteger(Number(text.slice(at, INTEGER.lastIndex))))
      return `no value of the profile at character ${at}`;
    at = INTEGER.lastIndex;
    return null;
  }

  function word(expected: string): string | null {
    if (!text.startsWith(expected, at)) return `no value of the profile at character ${at}`;
    at += expected.length;
    return null;
  }

  const fault = value(1);
  if (fault !== null) return fault;
  return at === text.length ? null : `something follows the value at character ${at}`;
}

/** Reads the token between two places; few names have an escape in them. */
function nameIn(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes("\\") ? (JSON.parse(text.slice(start, end)) as string) : inner;
}
