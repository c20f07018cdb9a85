const { compare } = new Intl.Collator("en", { numeric: true });

/** `node-2` before `node-10`. */
export function compareIds(a: string, b: string): number {
  return compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}
