/** What is told of a start that several futures have at different times. Pure. */

/** As near counts as right: so long, or such a part of the wait. */
const NEAR = { ms: 60_000, part: 0.2 };

/** The first and the last that any future has; @property until null: some have it later than anybody looked */
export type StartRange = { from: number; until: number | null };
/** @property range absent where all futures are near to what is told */
type AgreedStart = { at: number; range?: StartRange };

/**
 * The time that is near to most of the futures: rather what will be right most often than an average that is right for none. Of several such the one
 * next to the middle future.
 * @param starts one of each future; null: later than anybody looked
 * @returns null where fewer than half of the futures have it start
 */
export function agreedStart(starts: readonly (number | null)[], now: number): AgreedStart | null {
  const known = starts.flatMap((at) => (at === null ? [] : [at])).toSorted((a, b) => a - b);
  if (known.length === 0 || known.length * 2 < starts.length) return null;
  const spans = known.map((at) => ({ from: at - nearMs(at - now), until: at + nearMs(at - now) }));
  const edges = spans.flatMap(({ from, until }) => [from, until]).toSorted((a, b) => a - b);
  const median = known[known.length >> 1]!;
  let best = { hits: 0, off: Infinity, at: median };
  for (const [place, from] of edges.entries()) {
    const at = (from + (edges[place + 1] ?? from)) / 2;
    const hits = spans.filter((span) => span.from <= at && at <= span.until).length;
    const off = Math.abs(at - median);
    if (hits > best.hits || (hits === best.hits && off < best.off)) best = { hits, off, at };
  }
  const at = Math.max(now, known.length === 1 ? median : best.at);
  const [from, until] = [known[0]!, known.length < starts.length ? null : known.at(-1)!];
  const isSure =
    until !== null && at - from <= nearMs(at - now) && until - at <= nearMs(until - now);
  return isSure ? { at } : { at, range: { from, until } };
}

function nearMs(waitMs: number): number {
  return Math.max(NEAR.ms, NEAR.part * waitMs);
}
