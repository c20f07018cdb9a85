/**
 * Whether a text is canonical JSON (RFC 8785) within the log's profile: judged on the text itself, by a scanner, so that it
 * shares nothing with the writer, which serializes. Names in strictly ascending UTF-16 order also rules out duplicates.
 */

// oxlint-disable-next-line no-control-regex -- RFC 8785 §3.2.2.2: these are the characters that must be escaped
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f])))*"/y;
const INTEGER = /0|-?[1-9][0-9]{0,15}/y;
const MAX_DEPTH = 6;

/** Null when the text is canonical; else what is wrong and where. The text must be well-formed Unicode. */
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
      if (previous !== null && previous >= name) return `names out of order or twice at character ${start}`;
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

/** Of the token between two places; few names have an escape in them. */
function nameIn(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes("\\") ? (JSON.parse(text.slice(start, end)) as string) : inner;
}
