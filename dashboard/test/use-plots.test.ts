import type { UseReply } from "@resontech/contracts/http-use";
import t from "tap";
import { figuresOfUse } from "../src/pages/job/use-plots.ts";

type UseSeries = UseReply["series"][number];

const answer = (...series: UseSeries[]): UseReply => ({
  ...{ fromS: 100, toS: 130, stepS: 15, keptDays: 15, series },
});
const of = (site: string, more: UseSeries["of"] = {}) => ({ member: `m-${site}`, site, ...more });

t.test("curves of one measure stand in one figure, at the same times", async (t) => {
  const [cpu, ...others] = figuresOfUse(
    answer(
      { measure: "cpu", unit: "cores", of: of("site-1"), values: [1, 2, null] },
      { measure: "cpu", unit: "cores", of: of("site-2"), values: [3, 4, 5] },
    ),
  );
  t.same(others, []);
  t.match(cpu, { measure: "cpu", title: "Processor (cores)", unit: "cores" });
  t.same(cpu?.plot.places, [100, 115, 130]);
  t.match(cpu?.plot.curves, [
    { label: "site-1", values: [1, 2, null] },
    { label: "site-2", values: [3, 4, 5] },
  ]);
});

t.test("a member has one colour in every figure", async (t) => {
  const figures = figuresOfUse(
    answer(
      { measure: "cpu", unit: "cores", of: of("site-1"), values: [1] },
      { measure: "cpu", unit: "cores", of: of("site-2"), values: [1] },
      { measure: "device_use", unit: "percent", of: of("site-2", { worker: "w-1" }), values: [50] },
    ),
  );
  const hue = (measure: string, at: number) =>
    figures.find((figure) => figure.measure === measure)?.plot.curves[at]?.hue;
  t.equal(hue("cpu", 1), hue("device_use", 0));
  t.not(hue("cpu", 0), hue("cpu", 1));
  t.equal(figures[0]?.plot.curves[0]?.label, "site-2 on w-1");
});

t.test("a limit that all share is one line, and others are one each", async (t) => {
  const memory = (site: string, limit: number): UseSeries[] => [
    { measure: "memory", unit: "bytes", of: of(site), values: [1] },
    { measure: "memory_limit", unit: "bytes", of: of(site), values: [limit] },
  ];
  const labels = (...series: UseSeries[]) =>
    figuresOfUse(answer(...series)).flatMap(({ plot }) =>
      plot.curves.filter(({ isLimit }) => isLimit === true).map(({ label }) => label),
    );
  t.same(labels(...memory("site-1", 9)), ["limit"]);
  t.same(labels(...memory("site-1", 9), ...memory("site-2", 9)), ["limit of each"]);
  t.same(labels(...memory("site-1", 9), ...memory("site-2", 8)), [
    "limit of site-1",
    "limit of site-2",
  ]);
});

t.test(
  "of several attempts each curve says its own, and what was never measured has no figure",
  async (t) => {
    const [cpu, ...others] = figuresOfUse(
      answer(
        { measure: "cpu", unit: "cores", of: of("site-1", { attempt: "1" }), values: [1] },
        { measure: "cpu", unit: "cores", of: of("site-1", { attempt: "2" }), values: [1] },
        { measure: "network_in", unit: "bytes/s", of: of("site-1"), values: [null] },
      ),
    );
    t.same(
      cpu?.plot.curves.map(({ label }) => label),
      ["site-1, attempt 1", "site-1, attempt 2"],
    );
    t.same(others, []);
  },
);
