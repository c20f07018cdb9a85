/**
 * Which time a cosignature states. It never goes back: it says that as of then no larger tree was seen (tlog-cosignature), so one for a larger tree at
 * an earlier time would make the first one untrue. No command can undo one that was made under a clock that was ahead, then. Pure.
 */

/** A clock that is stepped back by less is waited for; one further back is wrong, or was. */
export const MAX_BEHIND_S = 300;

/** Seconds since the epoch; null when the clock is so far behind the last cosignature that nothing may be stated. */
export function cosignTime(nowMs: number, lastS: number): number | null {
  const nowS = Math.floor(nowMs / 1_000);
  if (nowS >= lastS) return nowS;
  return lastS - nowS <= MAX_BEHIND_S ? lastS : null;
}

/** The refusal, for those who can do something about it: until when it lasts, by which clock. */
export function clockBehind(nowMs: number, lastS: number): string {
  const [now, last, from] = [nowMs, lastS * 1_000, (lastS - MAX_BEHIND_S) * 1_000].map(inSeconds);
  return `clock_behind: cosigned at ${last}, the clock of this witness says ${now}; it cosigns again from ${from}`;
}

function inSeconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+/, "");
}
