import { LOOK_EVERY_S } from "@resontech/prometheus/kept-figures";

const S = 1_000;

/** Shared by all curves of an answer: the place `i` is the second `fromS + i * stepS`. */
export type TimeAxis = { fromS: number; toS: number; stepS: number };

/** At most so many points, and none that Prometheus has not looked for. It ends where it was asked to: the newest value is never left out. Pure. */
export function timeAxis(fromMs: number, toMs: number, points: number): TimeAxis {
  const toS = Math.floor(toMs / S);
  const spanS = Math.max(1, toS - Math.floor(fromMs / S));
  const stepS = Math.max(LOOK_EVERY_S, Math.ceil(spanS / (points - 1)));
  return { fromS: toS - stepS * Math.floor(spanS / stepS), toS, stepS };
}

export function placesOf({ fromS, toS, stepS }: TimeAxis): number {
  return (toS - fromS) / stepS + 1;
}
