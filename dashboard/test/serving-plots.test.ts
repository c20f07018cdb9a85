import type { UseReply } from "@resontech/contracts/http-use";
import t from "tap";
import { likeness } from "../src/pages/inference/embed-texts.ts";
import { figuresOfServing } from "../src/pages/inference/serving-plots.ts";

t.test("curves that belong together stand in one figure; what nobody told has none", async (t) => {
  const series: UseReply["series"] = [
    { measure: "latency_p50", unit: "seconds", of: {}, values: [0.1, null] },
    { measure: "latency_p95", unit: "seconds", of: {}, values: [0.4, 0.5] },
    { measure: "latency_p99", unit: "seconds", of: {}, values: [null, null] },
    { measure: "calls", unit: "calls/s", of: {}, values: [1, 2] },
  ];
  const figures = figuresOfServing({ fromS: 60, toS: 75, stepS: 15, keptDays: 15, series });
  t.match(figures, [
    { title: "Calls a second", unit: "calls/s", plot: { places: [60, 75] } },
    { title: "How long calls take", unit: "seconds" },
  ]);
  t.same(
    figures[1]?.plot.curves.map(({ label }) => label),
    ["half", "95 %"],
  );
});

t.test("texts are as alike as their vectors point the same way", async (t) => {
  t.equal(likeness([2, 0], [5, 0]), 1);
  t.equal(likeness([1, 0], [0, 1]), 0);
  t.equal(likeness([1, 0], [-3, 0]), -1);
  t.equal(likeness([0, 0], [1, 0]), 0, "what has no direction is like nothing");
});
