/** Pure: rates and times of a deployment, from what was counted at several instants. */
import {
  type DeploymentFigures,
  type DeploymentNumbers,
  TIME_CLASSES_MS,
  type Times,
} from "@resontech/contracts/gateway-numbers";

/** @property at milliseconds */
export type NumbersThen = { at: number; numbers: ReadonlyMap<string, DeploymentNumbers> };

export function addNumbers(a: DeploymentNumbers | null, b: DeploymentNumbers): DeploymentNumbers {
  if (a === null) return b;
  const errors = { ...a.errors };
  for (const [code, count] of Object.entries(b.errors)) errors[code] = (errors[code] ?? 0) + count;
  return {
    ...{ deployment: b.deployment, requests: a.requests + b.requests, errors },
    duration: combined(a.duration, b.duration, 1),
    firstByte: combined(a.firstByte, b.firstByte, 1),
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
  };
}

/** @param heard the oldest first; what was heard before a gateway began anew counts for nothing */
export function figuresOf(
  deployment: string,
  heard: readonly NumbersThen[],
): Omit<DeploymentFigures, "inFlight" | "waiting"> {
  const last = heard.at(-1);
  const first = firstOf(deployment, heard);
  const windowS = last === undefined || first === null ? 0 : (last.at - first.at) / 1_000;
  const newest = last?.numbers.get(deployment) ?? nothing(deployment);
  const since = subtracted(newest, first?.numbers.get(deployment) ?? nothing(deployment));
  const errors = Object.values(since.errors).reduce((sum, count) => sum + count, 0);
  const perSecond = (count: number) => (windowS === 0 ? 0 : count / windowS);
  return {
    windowS,
    requestsPerSecond: perSecond(since.requests),
    errorsPerSecond: perSecond(errors),
    errors: windowS === 0 ? {} : since.errors,
    durationMs: windowS === 0 ? null : quantilesOf(since.duration),
    firstByteMs: windowS === 0 ? null : quantilesOf(since.firstByte),
    promptTokensPerSecond: perSecond(since.promptTokens),
    completionTokensPerSecond: perSecond(since.completionTokens),
  };
}

/** Answers the milliseconds below which this share of times stays; within a class they are evenly spread. Null without any. */
export function quantile({ counts }: Pick<Times, "counts">, share: number): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    const end = TIME_CLASSES_MS[index];
    const wanted = share * all - below;
    // Of what took longer than all classes nobody knows how much.
    if (end === undefined) break;
    const start = TIME_CLASSES_MS[index - 1] ?? 0;
    if (count > 0 && wanted <= count) return start + (end - start) * Math.max(0, wanted / count);
    below += count;
  }
  return TIME_CLASSES_MS.at(-1)!;
}

function quantilesOf(times: Times): DeploymentFigures["durationMs"] {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => quantile(times, share));
  return p50 == null || p95 == null || p99 == null ? null : { p50, p95, p99 };
}

/** The oldest instant after which nothing was counted back. */
function firstOf(deployment: string, heard: readonly NumbersThen[]): NumbersThen | null {
  let first: NumbersThen | null = null;
  let before = Number.POSITIVE_INFINITY;
  for (const one of heard.toReversed()) {
    const requests = one.numbers.get(deployment)?.requests ?? 0;
    if (requests > before) break;
    [first, before] = [one, requests];
  }
  return first;
}

function subtracted(newer: DeploymentNumbers, older: DeploymentNumbers): DeploymentNumbers {
  const errors = Object.entries(newer.errors)
    .map(([code, count]) => [code, Math.max(0, count - (older.errors[code] ?? 0))] as const)
    .filter(([, count]) => count > 0);
  return {
    deployment: newer.deployment,
    requests: Math.max(0, newer.requests - older.requests),
    errors: Object.fromEntries(errors),
    duration: combined(newer.duration, older.duration, -1),
    firstByte: combined(newer.firstByte, older.firstByte, -1),
    promptTokens: Math.max(0, newer.promptTokens - older.promptTokens),
    completionTokens: Math.max(0, newer.completionTokens - older.completionTokens),
  };
}

function combined(a: Times, b: Times, sign: 1 | -1): Times {
  return {
    counts: a.counts.map((count, index) => Math.max(0, count + sign * (b.counts[index] ?? 0))),
    sumMs: Math.max(0, a.sumMs + sign * b.sumMs),
  };
}

function nothing(deployment: string): DeploymentNumbers {
  const times = { counts: TIME_CLASSES_MS.map(() => 0).concat(0), sumMs: 0 };
  return {
    ...{ deployment, requests: 0, errors: {}, duration: times, firstByte: times },
    ...{ promptTokens: 0, completionTokens: 0 },
  };
}
