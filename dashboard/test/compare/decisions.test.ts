import type { JobMetricsReply } from "@resontech/contracts/http-jobs";
import t from "tap";
import { comparedJobs, comparisonOf, labelsOf } from "../../src/pages/compare/compared-jobs.ts";
import { overlaidFigures } from "../../src/pages/compare/overlaid-curves.ts";
import { USE_ROWS } from "../../src/pages/compare/use-summary.ts";

type Series = JobMetricsReply["series"][number];
const series = (site: string, name: string, values: number[], axis: Series["axis"] = "round") => ({
  ...{ site, name, axis },
  points: values.map((value, at): Series["points"][number] => [at + 1, value, value, value]),
});

t.test("the address names eight jobs at most, each once", async (t) => {
  const ids = Array.from({ length: 10 }, (_, at) => `job-${at}`);
  const { searchParams } = new URL(`http://x${comparisonOf(["job-0", "job-0", ...ids])}`);
  t.same(comparedJobs(searchParams), ids.slice(0, 8));
  t.same(comparedJobs(new URLSearchParams("jobs=,")), []);
});

t.test("jobs of one name are told apart", async (t) => {
  const job = (id: string, name: string) => ({ id, name });
  t.same(labelsOf([job("job-aaaaaa", "a"), job("job-bbbbbb", "b"), job("job-cccccc", "a")]), [
    ...["a (aaaaaa)", "b", "a (cccccc)"],
  ]);
});

const RUN = { startedAt: "2026-11-30T00:00:00.000Z", rounds: [] };
const metricsOf = (...all: Series[]) => ({ series: all, began: "2026-11-30T00:00:10.000Z" });

t.test("curves of jobs lie over one another, as the mean of sites or site by site", async (t) => {
  const runs = [
    {
      ...RUN,
      label: "a",
      metrics: metricsOf(series("s1", "loss", [4, 2]), series("s2", "loss", [2])),
    },
    { ...RUN, label: "b", metrics: metricsOf(series("s1", "loss", [5])) },
  ];
  const [mean] = overlaidFigures(runs, { bySite: false, byTime: false });
  t.match(mean, {
    ...{ title: "loss by round", axis: "round" },
    plot: {
      places: [1, 2],
      curves: [
        { label: "a", values: [3, 2], hue: 0, band: { least: [2, 2], most: [4, 2] } },
        { label: "b", values: [5, null], hue: 1 },
      ],
    },
  });
  const [each] = overlaidFigures(runs, { bySite: true, byTime: false });
  t.same(
    each?.plot.curves.map(({ label, hue }) => [label, hue]),
    [
      ["a, s1", 0],
      ["a, s2", 6],
      ["b, s1", 1],
    ],
  );
});

t.test(
  "rounds stand at the second of their end; of steps nobody knows when they were",
  async (t) => {
    const ended = (round: number, second: number) => ({
      ...{ attempt: 1, round, startedAt: null, sites: [], hasCheckpoint: false, isFinite: true },
      endedAt: new Date(Date.parse(RUN.startedAt) + second * 1_000).toISOString(),
    });
    const runs = [
      {
        ...{ ...RUN, label: "a", rounds: [ended(1, 60), ended(2, 90)] },
        metrics: metricsOf(
          series("s1", "loss", [4, 2]),
          series("s1", "seen", [1], "seconds"),
          series("s1", "grad", [1], "step"),
        ),
      },
    ];
    const figures = overlaidFigures(runs, { bySite: false, byTime: true });
    t.same(
      figures.map(({ title, plot }) => [title, plot.places]),
      [
        ["loss by seconds", [60, 90]],
        ["seen by seconds", [11]],
      ],
    );
  },
);

t.test("use is told in figures; of what nobody measured nothing is", async (t) => {
  const use = {
    ...{ fromS: 0, toS: 30, stepS: 15, keptDays: 15 },
    series: [
      { measure: "cpu" as const, unit: "cores" as const, of: { site: "s1" }, values: [1, null, 3] },
      { measure: "memory" as const, unit: "bytes" as const, of: {}, values: [2 ** 30, 2 ** 31] },
    ],
  };
  t.same(
    USE_ROWS.map(({ say }) => say(use)),
    ["2 cores", "2.0 GiB", "", ""],
  );
});
