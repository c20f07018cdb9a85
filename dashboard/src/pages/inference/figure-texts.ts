/** Figures of a deployment in words. Pure. */
import type { DeploymentMetrics } from "@resontech/contracts/http-inference";

export type ServingState = NonNullable<DeploymentMetrics["serving"]>["state"];

const SERVING: Record<ServingState, string> = {
  COLD: "no replica; a call wakes it",
  WAKING: "wakes",
  HOT: "takes calls",
  SLEEPING: "sleeps in its place; a call wakes it",
  DRAINING: "its replicas end what they have",
  STOPPED: "stopped",
  FAILED: "failed to load several times; it is tried again",
};

/**
 * @param state null: it has not loaded yet
 * @param wakeMs what a call would wait now for its first byte; null where nobody has seen one
 */
export function servingText(state: ServingState | null, wakeMs: number | null = null): string {
  if (state === null) return "has not loaded yet";
  return wakeMs === null ? SERVING[state] : `${SERVING[state]} in about ${timeText(wakeMs)}`;
}

/** Writes a rate per second. */
export function rateText(perSecond: number): string {
  return perSecond === 0 ? "0" : perSecond.toFixed(perSecond < 10 ? 2 : 0);
}

/** @param ms null: nobody called */
export function timeText(ms: number | null): string {
  if (ms === null) return "–";
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

export function errorsText(errors: Readonly<Record<string, number>>): string {
  const named = Object.entries(errors).toSorted(([, a], [, b]) => b - a);
  return named.length === 0
    ? "none"
    : named.map(([code, count]) => `${count} × ${code.replaceAll("_", " ")}`).join(", ");
}

/** Mean of those that somebody measures. */
export function useText(devices: DeploymentMetrics["devices"]): string {
  const uses = devices.flatMap(({ usePercent }) => usePercent ?? []);
  if (uses.length === 0) return "–";
  return `${Math.round(uses.reduce((sum, one) => sum + one, 0) / uses.length)} %`;
}
