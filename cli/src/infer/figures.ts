/** Pure: figures of deployments as rows for a terminal. */
import type { DeploymentMetrics, UsageEntry } from "@resontech/contracts/http-inference";

export const TOP_HEAD = [
  ...["DEPLOYMENT", "NAME", "STATE", "READY", "CALLS", "WAIT", "REQ/S", "ERR/S"],
  ...["P50", "P95", "P99", "FIRST", "TOK/S", "GPU"],
];
export const USAGE_HEAD = [
  ...["DAY", "DEPLOYMENT", "NAME", "KEY", "CALLS", "FAILED", "TOKENS IN", "TOKENS OUT"],
];

export function topRow({
  id,
  name,
  status,
  serving,
  devices,
  figures,
}: DeploymentMetrics): string[] {
  const { inFlight, waiting, durationMs, firstByteMs } = figures;
  const uses = devices.flatMap(({ usePercent }) => usePercent ?? []);
  const use = uses.length === 0 ? null : uses.reduce((sum, one) => sum + one, 0) / uses.length;
  return [
    ...[id, name, serving?.state ?? status, String(serving?.ready ?? 0)],
    ...[countOf(inFlight), countOf(waiting)],
    ...[rateOf(figures.requestsPerSecond), rateOf(figures.errorsPerSecond)],
    ...[timeOf(durationMs?.p50), timeOf(durationMs?.p95), timeOf(durationMs?.p99)],
    ...[timeOf(firstByteMs?.p50), rateOf(figures.completionTokensPerSecond)],
    use === null ? "-" : `${Math.round(use)}%`,
  ];
}

/** What engines did not come to tell is a lower bound, and says so. */
export function usageRow(entry: UsageEntry): string[] {
  const { day, deployment, name, keyId, calls, failed, inexact } = entry;
  const least = (tokens: number) => (inexact === 0 ? String(tokens) : `>=${tokens}`);
  return [
    ...[day, deployment, name ?? "-", keyId ?? "own", String(calls), String(failed)],
    ...[least(entry.promptTokens), least(entry.completionTokens)],
  ];
}

function countOf(count: number | null): string {
  return count === null ? "-" : String(count);
}

function rateOf(perSecond: number): string {
  return perSecond === 0 ? "0" : perSecond.toFixed(perSecond < 10 ? 2 : 0);
}

/** @param ms undefined: nobody called */
function timeOf(ms: number | undefined): string {
  if (ms === undefined) return "-";
  return ms < 1_000 ? `${Math.round(ms)}ms` : `${(ms / 1_000).toFixed(1)}s`;
}
