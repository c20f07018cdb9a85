/**
 * RFC 8785 for the profile of the log: no floats, integers within ±(2⁵³−1), well-formed strings, bounded depth.
 * Within it, canonical form is JSON.stringify with members in order of their names' UTF-16 units (RFC 8785 §3.2.3), which is the
 * order of Array.prototype.sort; test/event/canonical-json.test.ts compares it with an independent implementation.
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

/**
 * Canonical text of a JSON value; members that are `undefined` are left out.
 * @param maxDepth objects and arrays that may nest, the value itself included
 * @throws {@link CanonicalError}
 */
export function canonicalJson(value: unknown, maxDepth: number): string {
  switch (typeof value) {
    case "string":
      if (!value.isWellFormed()) throw new CanonicalError("surrogate", "a string holds a lone surrogate");
      return JSON.stringify(value);
    case "number":
      if (!Number.isSafeInteger(value)) throw new CanonicalError("number", "a number is no integer within ±(2^53-1)");
      return String(value === 0 ? 0 : value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      break;
    default:
      throw new CanonicalError("not_json", `a ${typeof value} is no JSON value`);
  }
  if (value === null) return "null";
  if (maxDepth === 0) throw new CanonicalError("depth", "objects and arrays nest too deep");
  if (Array.isArray(value)) return `[${value.map((element) => canonicalJson(element, maxDepth - 1)).join(",")}]`;
  return joinMembers(canonicalMembers(value as Record<string, unknown>, maxDepth));
}

/** The members of one object, each already canonical; `[name, text]` in any order. */
export function canonicalMembers(value: Record<string, unknown>, maxDepth: number): [name: string, text: string][] {
  const members: [string, string][] = [];
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    if (!name.isWellFormed()) throw new CanonicalError("surrogate", "a member's name holds a lone surrogate");
    members.push([name, canonicalJson(member, maxDepth - 1)]);
  }
  return members;
}

/** Sorts in place and joins what {@link canonicalMembers} gave. */
export function joinMembers(members: [name: string, text: string][]): string {
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}
