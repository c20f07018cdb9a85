/**
 * Reads what an entry's detail says. Under schemas that this release does not know it may say anything, of any length: what is not of the form that a judge
 * looks for counts as not said, and no more of it is kept than a name may have.
 */
export type Detail = Readonly<Record<string, unknown>>;

/** As the catalogue has it: of producers, lives and types, and of hashes in hex. */
const MAX_NAME = 64;
const MAX_ORIGIN = 255;

/** Reads a member's text; null for what is no name. */
export function nameIn(detail: Detail, member: string): string | null {
  return textIn(detail, member, MAX_NAME);
}

/** Reads a member's text; null for what can't be a log's name. */
export function originIn(detail: Detail, member: string): string | null {
  return textIn(detail, member, MAX_ORIGIN);
}

function textIn(detail: Detail, member: string, maxLength: number): string | null {
  const value = Object.hasOwn(detail, member) ? detail[member] : null;
  return typeof value === "string" && value.length <= maxLength ? value : null;
}

/** Reads a member's number; null for what is no integer within ±(2⁵³−1). */
export function integerIn(detail: Detail, member: string): number | null {
  const value = Object.hasOwn(detail, member) ? detail[member] : null;
  return Number.isSafeInteger(value) ? Number(value) : null;
}

/** Reads a member's list. Null for what is no list; members of it that are no objects count as empty ones. */
export function objectsIn(detail: Detail, member: string): Detail[] | null {
  const value = Object.hasOwn(detail, member) ? detail[member] : null;
  return Array.isArray(value) ? value.map((one) => (isDetail(one) ? one : {})) : null;
}

/** Reads a member's list. Null for what is no list; members of it that are no names are left out. */
export function namesIn(detail: Detail, member: string): string[] | null {
  const value = Object.hasOwn(detail, member) ? detail[member] : null;
  return Array.isArray(value)
    ? value.filter((one) => typeof one === "string" && one.length <= MAX_NAME)
    : null;
}

export function isDetail(value: unknown): value is Detail {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
