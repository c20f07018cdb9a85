import t from "tap";
import { type RangeSeries, useSeries } from "../../../src/use/decisions/use-series.ts";

const AXIS = { fromS: 100, toS: 145, stepS: 15 };
const site = (number: number, measure = "cpu") => ({
  ...{ measure, member: `j-a1-site-${number}`, site: `site-${number}`, attempt: "1" },
  ...{ node: "node-a", job: "coordinator", exported_job: "j", instance: "appliance" },
});

t.test("values stand at their time, and a gap is null: never 0", async (t) => {
  const [one] = useSeries(AXIS, [
    {
      metric: site(1),
      values: [
        [100, "0.5"],
        [130, "0"],
        [145, "NaN"],
      ],
    },
  ]);
  t.strictSame(one, {
    ...{ measure: "cpu", unit: "cores" },
    of: { member: "j-a1-site-1", site: "site-1", attempt: "1", node: "node-a" },
    values: [0.5, null, 0, null],
  });
});

t.test("a rate has six digits, and a number of bytes all", async (t) => {
  const metric = site(1);
  const values = [
    [100, "0.10712345678"],
    [115, "351936512"],
  ] as const;
  t.same(useSeries(AXIS, [{ metric, values }])[0]?.values.slice(0, 2), [0.107123, 351_936_512]);
});

t.test("curves come by measure, then by site in the order of its number", async (t) => {
  const told = [site(10), site(2, "memory"), site(2), site(1)];
  t.same(
    useSeries(
      AXIS,
      told.map((metric) => ({ metric, values: [] })),
    ).map(({ measure, of }) => [...[measure, of.site]]),
    [
      ["cpu", "site-1"],
      ["cpu", "site-2"],
      ["cpu", "site-10"],
      ["memory", "site-2"],
    ],
  );
});

t.test("a disk is told by what it holds, and what has no measure is passed over", async (t) => {
  const told: RangeSeries[] = [
    { metric: { measure: "disk", holds: "logs" }, values: [] },
    { metric: { measure: "constructor" }, values: [] },
    { metric: {}, values: [] },
  ];
  t.match(useSeries(AXIS, told), [{ measure: "disk", unit: "bytes", of: { disk: "logs" } }]);
});
