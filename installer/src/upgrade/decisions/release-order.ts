/** Pure: which of two versions is the newer one, as https://semver.org/#spec-item-11 has it. */

/** Compares two versions: below zero where `a` is the older one, zero where none is. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  for (let at = 0; at < left.numbers.length; at++) {
    const difference = left.numbers[at]! - right.numbers[at]!;
    if (difference !== 0) return difference;
  }
  if (left.pre === null || right.pre === null)
    return Number(left.pre === null) - Number(right.pre === null);
  return comparePre(left.pre, right.pre);
}

/** Whether a version is in one of these ranges; each is comparators with spaces between, all of which must hold: `>=1.2.0 <2.0.0`. */
export function isInRanges(version: string, ranges: readonly string[]): boolean {
  return ranges.some((range) =>
    range
      .trim()
      .split(/\s+/)
      .every((comparator) => holds(version, comparator)),
  );
}

/** What is no comparator holds for nothing. */
function holds(version: string, comparator: string): boolean {
  const [, operator, bound] = /^(>=|<=|>|<|=)(\d+\.\d+\.\d+\S*)$/.exec(comparator) ?? [];
  if (operator === undefined || bound === undefined) return false;
  const order = compareVersions(version, bound);
  return (
    (order > 0 && operator.startsWith(">")) ||
    (order < 0 && operator.startsWith("<")) ||
    (order === 0 && operator.endsWith("="))
  );
}

function parse(version: string): { numbers: number[]; pre: string[] | null } {
  const [core = "", ...pre] = version.split("-");
  return {
    numbers: core.split(".").map(Number),
    pre: pre.length === 0 ? null : pre.join("-").split("."),
  };
}

function comparePre(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [left, right] = [a[at], b[at]];
    if (left === undefined || right === undefined) return left === undefined ? -1 : 1;
    if (left === right) continue;
    const [isNumber, isOther] = [/^\d+$/.test(left), /^\d+$/.test(right)];
    if (isNumber && isOther) return Number(left) - Number(right);
    if (isNumber !== isOther) return isNumber ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return 0;
}
