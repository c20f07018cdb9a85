/** When the log goes without cosignatures for too long, and when that is over. Pure; the clock is given. */

/** A stretch without a quorum that is longer fails WITNESSED. */
export const MAX_WITNESS_LAG_MS = 900_000;

/** @param lastMs when the newest checkpoint with a quorum was had. @returns null when nothing changed */
export function witnessLag(
  nowMs: number,
  lastMs: number,
  isLagging: boolean,
): "begins" | "is over" | null {
  const lags = nowMs - lastMs > MAX_WITNESS_LAG_MS;
  if (lags === isLagging) return null;
  return lags ? "begins" : "is over";
}
