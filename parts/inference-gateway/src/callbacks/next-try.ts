/** Pure: when an answer that nobody took is posted again. */

const FIRST_MS = 2_000;
const LONGEST_MS = 3_600_000;
/** The last one is about 20 hours after the first. */
export const MAX_TRIES = 30;

/**
 * @param tries that have failed, at least one
 * @param random 0 to 1: what failed together is not tried again together
 * @returns milliseconds from now; null: it is given up
 */
export function nextTryMs(tries: number, random: number): number | null {
  if (tries >= MAX_TRIES) return null;
  const most = Math.min(LONGEST_MS, FIRST_MS * 2 ** (tries - 1));
  return Math.round(most * (0.75 + random / 4));
}
