/** Which lines of a text went and came. Pure. */
type DiffLine = { sign: "-" | "+" | " "; text: string };

/** Beyond so many pairs of lines the changed middle is told as a whole. */
const MOST_PAIRS = 4_000_000;

/** @param context lines told around a change; those between two changes that stand farther apart are left out */
export function lineDiff(before: string, after: string, context = 2): DiffLine[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (
    tail < a.length - head &&
    tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  )
    tail++;
  const middle = changedLines(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  const same = (lines: string[]): DiffLine[] => lines.map((text) => ({ sign: " ", text }));
  return around(
    [...same(a.slice(0, head)), ...middle, ...same(tail === 0 ? [] : a.slice(-tail))],
    context,
  );
}

/** By the longest common subsequence. */
function changedLines(a: readonly string[], b: readonly string[]): DiffLine[] {
  const gone = (text: string): DiffLine => ({ sign: "-", text });
  const came = (text: string): DiffLine => ({ sign: "+", text });
  if (a.length * b.length > MOST_PAIRS) return [...a.map(gone), ...b.map(came)];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length)
    if (a[i] === b[j]) {
      lines.push({ sign: " ", text: a[i++]! });
      j++;
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!)
      lines.push(gone(a[i++]!));
    else lines.push(came(b[j++]!));
  return [...lines, ...a.slice(i).map(gone), ...b.slice(j).map(came)];
}

function around(lines: readonly DiffLine[], context: number): DiffLine[] {
  const changed = lines.flatMap(({ sign }, at) => (sign === " " ? [] : [at]));
  const kept = new Set(
    changed.flatMap((at) => Array.from({ length: 2 * context + 1 }, (_, by) => at - context + by)),
  );
  return lines.filter((_, at) => kept.has(at));
}
