import t from "tap";
import type { JobMetricsReply } from "../../src/http/http-jobs.ts";
import { finalMetrics } from "../../src/compare/final-metrics.ts";

type Series = JobMetricsReply["series"][number];
const series = (site: string, name: string, values: number[]) => ({
  ...{ site, name, axis: "round" as const },
  points: values.map((value, at): Series["points"][number] => [at + 1, value, value, value]),
});

t.test("the best is marked where a name says which way is better", async (t) => {
  const rows = finalMetrics([
    [series("s1", "loss", [3, 1]), series("s2", "loss", [3, 2]), series("s1", "accuracy", [0.5])],
    [series("s1", "loss", [3, 2.5]), series("s1", "accuracy", [0.9]), series("s1", "seen", [7])],
    [],
  ]);
  t.same(rows, [
    { name: "accuracy", values: [0.5, 0.9, null], isBest: [false, true, false] },
    { name: "loss", values: [1.5, 2.5, null], isBest: [true, false, false] },
    { name: "seen", values: [null, 7, null], isBest: [false, false, false] },
  ]);
  t.same(finalMetrics([[series("s", "loss", [1])], [series("s", "loss", [1])]])[0]?.isBest, [
    ...[false, false],
  ]);
  t.same(
    finalMetrics([[series("s", "loss", [Number.NaN])], [series("s", "loss", [1])]])[0]?.isBest,
    [...[false, false]],
  );
});
