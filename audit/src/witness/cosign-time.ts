/** Which time a cosignature states. It never goes back: whoever reads two of them knows which came first. Pure. */

/** A clock that is stepped back by less is waited for; one further back is wrong, or was. */
export const MAX_BEHIND_S = 300;

/** Seconds since the epoch; null when the clock is so far behind the last cosignature that nothing may be stated. */
export function cosignTime(nowMs: number, lastS: number): number | null {
  const nowS = Math.floor(nowMs / 1_000);
  if (nowS >= lastS) return nowS;
  return lastS - nowS <= MAX_BEHIND_S ? lastS : null;
}
