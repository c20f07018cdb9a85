/**
 * RFC 8785 for the profile of the log: no floats, integers within ±(2⁵³−1), well-formed strings, bounded depth.
 * Within it, canonical form is JSON.stringify with members in order of their names' UTF-16 units (RFC 8785 §3.2.3), which is the
 * order of Array.prototype.sort; test/event/canonical-json.test.ts compares it with an independent implementation.
 *
 * The whole is given to JSON.stringify once, in the right order, which costs a third of putting it together from its parts. Objects with
 * names that the language itself would move or take for something else are put together all the same.
 */

type CanonicalErrorCode = "not_json" | "not_canonical" | "number" | "surrogate" | "depth";

/** A value that the profile refuses. */
export class CanonicalError extends Error {
  override readonly name = "CanonicalError";
  readonly code: CanonicalErrorCode;

  constructor(code: CanonicalErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Stands for a value that has names of its own mind: an object lists names that look like numbers first, and `__proto__` is none of its members. */
const UNUSUAL = Symbol("unusual names");

/**
 * Canonical text of a JSON value; members that are `undefined` are left out.
 * @param maxDepth objects and arrays that may nest, the value itself included
 * @throws {@link CanonicalError}
 */
export function canonicalJson(value: unknown, maxDepth: number): string {
  return canonicalForm(value, maxDepth).text;
}

/** The same, with what a parse of the text gives. @throws {@link CanonicalError} */
export function canonicalForm(value: unknown, maxDepth: number): { text: string; value: unknown } {
  const copy = inOrder(value, maxDepth);
  if (copy !== UNUSUAL) return { text: JSON.stringify(copy), value: copy };
  const text = fromParts(value, maxDepth);
  return { text, value: JSON.parse(text) };
}

/**
 * Whether a text is canonical.
 * @param value the parse of `text`, which is well-formed
 * @throws {@link CanonicalError} for a value that the profile refuses
 */
export function isCanonical(text: string, value: unknown, maxDepth: number): boolean {
  // Of a text without lone surrogates JSON.stringify gives back each string as canonical form has it.
  const isQuick =
    !text.includes("\\ud") && keepsOrder(value, maxDepth) && JSON.stringify(value) === text;
  return isQuick || canonicalJson(value, maxDepth) === text;
}

/** The same value with names in order and without `undefined`; {@link UNUSUAL} where that can't be. */
function inOrder(value: unknown, maxDepth: number): unknown {
  if (typeof value !== "object") return scalar(value);
  if (value === null) return null;
  if (maxDepth === 0) throw tooDeep();
  if (Array.isArray(value)) {
    const copies = value.map((element: unknown) => inOrder(element, maxDepth - 1));
    return copies.includes(UNUSUAL) ? UNUSUAL : copies;
  }
  const names = Object.keys(value);
  if (!isAscending(names)) names.sort();
  const copy: Record<string, unknown> = {};
  for (const name of names) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    if (isUnusual(name)) return UNUSUAL;
    const ordered = inOrder(member, maxDepth - 1);
    if (ordered === UNUSUAL) return UNUSUAL;
    copy[name] = ordered;
  }
  return copy;
}

/** Canonical text, put together from that of its parts. */
function fromParts(value: unknown, maxDepth: number): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(scalar(value));
  if (maxDepth === 0) throw tooDeep();
  if (Array.isArray(value))
    return `[${value.map((element) => fromParts(element, maxDepth - 1)).join(",")}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(scalar(name))}:${fromParts(member, maxDepth - 1)}`)
    .join(",")}}`;
}

/** Whether a value that JSON.parse made has nothing that the profile refuses but what its strings may hold, and its names in order. */
function keepsOrder(value: unknown, maxDepth: number): boolean {
  if (typeof value === "number") return Number.isSafeInteger(value);
  if (typeof value !== "object" || value === null) return true;
  if (maxDepth === 0) return false;
  if (Array.isArray(value)) return value.every((element) => keepsOrder(element, maxDepth - 1));
  let previous: string | null = null;
  for (const name of Object.keys(value)) {
    if (previous !== null && previous >= name) return false;
    if (!keepsOrder((value as Record<string, unknown>)[name], maxDepth - 1)) return false;
    previous = name;
  }
  return true;
}

/** The value, where the profile takes it. */
function scalar(value: unknown): unknown {
  switch (typeof value) {
    case "string":
      if (!value.isWellFormed())
        throw new CanonicalError("surrogate", "a string holds a lone surrogate");
      return value;
    case "number":
      if (!Number.isSafeInteger(value))
        throw new CanonicalError("number", "a number is no integer within ±(2^53-1)");
      return value;
    case "boolean":
      return value;
    default:
      if (value === null) return null;
      throw new CanonicalError("not_json", `a ${typeof value} is no JSON value`);
  }
}

function isUnusual(name: string): boolean {
  const first = name.charCodeAt(0);
  return (first >= 0x30 && first <= 0x39) || name === "__proto__" || !name.isWellFormed();
}

function isAscending(names: readonly string[]): boolean {
  for (let at = 1; at < names.length; at++) if (names[at - 1]! >= names[at]!) return false;
  return true;
}

function tooDeep(): CanonicalError {
  return new CanonicalError("depth", "objects and arrays nest too deep");
}
