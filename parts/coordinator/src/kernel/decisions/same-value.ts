/** Whether two plain values are written down alike, names in the same order. What is `undefined` is not there. Pure. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && isSameArray(a, b);
  return isSameRecord(a as Record<string, unknown>, b as Record<string, unknown>);
}

function isSameArray(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (!isSameValue(a[at], b[at])) return false;
  return true;
}

/** Loops, as it is asked of each node for each record. */
function isSameRecord(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const [names, others] = [Object.keys(a), Object.keys(b)];
  let [at, other] = [0, 0];
  for (;;) {
    while (at < names.length && a[names[at]!] === undefined) at += 1;
    while (other < others.length && b[others[other]!] === undefined) other += 1;
    if (at === names.length || other === others.length)
      return at === names.length && other === others.length;
    const name = names[at]!;
    if (name !== others[other] || !isSameValue(a[name], b[name])) return false;
    at += 1;
    other += 1;
  }
}
