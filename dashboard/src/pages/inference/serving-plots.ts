/** Curves of a deployment as figures of its page. Pure. */
import type { UseMeasure, UseReply } from "@resontech/contracts/http-use";
import type { Plot } from "../../ui/chart/aligned-of.ts";
import type { Unit } from "../../ui/chart/units.ts";

export type ServingFigure = { title: string; unit: Unit; plot: Plot };

/** What stands in one figure has one unit. */
const FIGURES: readonly { title: string; curves: Partial<Record<UseMeasure, string>> }[] = [
  { title: "Calls a second", curves: { calls: "all", failed_calls: "failed" } },
  {
    title: "How long calls take",
    curves: { latency_p50: "half", latency_p95: "95 %", latency_p99: "99 %" },
  },
  { title: "To the first byte", curves: { first_byte_p50: "half", first_byte_p95: "95 %" } },
  { title: "Tokens a second", curves: { tokens_in: "in", tokens_out: "out" } },
  {
    title: "Replicas",
    curves: { replicas_ready: "ready", replicas_starting: "starting", replicas_asleep: "asleep" },
  },
  { title: "Calls now", curves: { calls_under_way: "under way", calls_waiting: "waiting" } },
];

/** One figure for each question that has values. */
export function figuresOfServing({ series, fromS, stepS }: UseReply): ServingFigure[] {
  const count = Math.max(0, ...series.map(({ values }) => values.length));
  const places = Array.from({ length: count }, (_, at) => fromS + at * stepS);
  return FIGURES.flatMap(({ title, curves }) => {
    const found = Object.entries(curves).flatMap(([measure, label]) =>
      series
        .filter((one) => one.measure === measure && one.values.some((value) => value !== null))
        .map((one) => ({ label, values: one.values, unit: one.unit })),
    );
    const [first] = found;
    return first === undefined
      ? []
      : [{ title, unit: first.unit, plot: { places, curves: found } }];
  });
}
