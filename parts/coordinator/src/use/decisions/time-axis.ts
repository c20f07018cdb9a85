import { LOOK_EVERY_S } from "@resontech/prometheus/kept-figures";

const S = 1_000;

/** Shared by all curves of an answer: the place `i` is the second `fromS + i * stepS`. */
export type TimeAxis = { fromS: number; toS: number; stepS: number };

/** At most so many points, and none that Prometheus has not looked for. Pure. */
export function timeAxis(fromMs: number, toMs: number, points: number): TimeAxis {
  const fromS = Math.floor(fromMs / S);
  const spanS = Math.max(1, Math.floor(toMs / S) - fromS);
  const stepS = Math.max(LOOK_EVERY_S, Math.ceil(spanS / (points - 1)));
  return { fromS, toS: fromS + stepS * Math.floor(spanS / stepS), stepS };
}

export function placesOf({ fromS, toS, stepS }: TimeAxis): number {
  return (toS - fromS) / stepS + 1;
}
