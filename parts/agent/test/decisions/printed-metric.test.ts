import t from "tap";
import { printedMetric } from "../../src/decisions/printed-metric.ts";

t.test("a metric is what follows the word at the start of a line", async (t) => {
  for (const [line, json] of [
    ['RT_METRIC {"loss": 0.5, "round": 1}', '{"loss": 0.5, "round": 1}'],
    ['RT_METRIC{"a":{"b":[1,2]}}  ', '{"a":{"b":[1,2]}}'],
  ] as const)
    t.same(printedMetric(line), { json, problem: null });
  for (const line of ["", "loss 0.5", ' RT_METRIC {"a": 1}', 'x RT_METRIC {"a": 1}'])
    t.equal(printedMetric(line), null, line);
});

t.test("what JSON can't hold is kept as text, with its problem", async (t) => {
  t.same(printedMetric('RT_METRIC {"loss": NaN, "all": [1, -Infinity], "NaN": "NaN, x"}'), {
    json: '{"loss": "NaN", "all": [1, "-Infinity"], "NaN": "NaN, x"}',
    problem: "JSON has no NaN",
  });
  for (const [said, problem] of [
    ["0.5", /no JSON object/],
    ["[1]", /no JSON object/],
    ["{loss: 1}", /no JSON/],
    ["", /no JSON/],
    [`{"a":"${"ü".repeat(4_000)}"}`, /longer than 4096 bytes/],
    ["[".repeat(4_000), /no JSON/],
  ] as const) {
    const metric = printedMetric(`RT_METRIC ${said}`);
    t.match(metric?.problem, problem, said.slice(0, 20));
    t.ok(Buffer.byteLength(metric?.json ?? "") <= 4096);
    t.match(JSON.parse(metric?.json ?? ""), { problem });
  }
});
