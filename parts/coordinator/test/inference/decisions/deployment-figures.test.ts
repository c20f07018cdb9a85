/** Rates and times, from what was counted. */
import { type DeploymentNumbers, TIME_CLASSES_MS } from "@resontech/contracts/gateway-numbers";
import t from "tap";
import { figuresOf, quantile } from "../../../src/inference/decisions/deployment-figures.ts";
import { HeardNumbers } from "../../../src/inference/heard-numbers.ts";

const times = (ms: readonly number[]) => ({
  counts: [...TIME_CLASSES_MS, Infinity].map(
    (end, index) =>
      ms.filter((one) => one <= end && one > (TIME_CLASSES_MS[index - 1] ?? 0)).length,
  ),
  sumMs: ms.reduce((sum, one) => sum + one, 0),
});
const numbers = (requests: number, change: Partial<DeploymentNumbers> = {}): DeploymentNumbers => ({
  ...{ deployment: "d", requests, errors: {}, duration: times([]), firstByte: times([]) },
  ...{ promptTokens: 0, completionTokens: 0, ...change },
});
const heard = (at: number, one: DeploymentNumbers) => ({ at, numbers: new Map([["d", one]]) });

t.test("rates are of what came between the first and the last word", async (t) => {
  const figures = figuresOf("d", [
    heard(0, numbers(10, { errors: { "429": 1 }, completionTokens: 100 })),
    heard(30_000, numbers(20)),
    heard(60_000, numbers(70, { errors: { "429": 4, timeout: 2 }, completionTokens: 700 })),
  ]);
  t.match(figures, {
    ...{ windowS: 60, requestsPerSecond: 1, completionTokensPerSecond: 10 },
    ...{ errors: { "429": 3, timeout: 2 }, errorsPerSecond: 5 / 60 },
  });
});

t.test("a gateway that began anew counts from there", async (t) => {
  const figures = figuresOf("d", [
    heard(0, numbers(500)),
    heard(10_000, numbers(2)),
    heard(20_000, numbers(12)),
  ]);
  t.match(figures, { windowS: 10, requestsPerSecond: 1 });
});

t.test("who has heard nothing says nothing", async (t) => {
  for (const all of [[], [heard(0, numbers(5))]])
    t.match(figuresOf("d", all), { windowS: 0, requestsPerSecond: 0, durationMs: null });
  t.match(figuresOf("other", [heard(0, numbers(1)), heard(1_000, numbers(9))]), {
    ...{ windowS: 1, requestsPerSecond: 0, durationMs: null, firstByteMs: null },
  });
});

t.test("quantiles lie in the class of the true one", async (t) => {
  const all = Array.from({ length: 1_000 }, (_, index) => 1 + ((index * 7_919) % 4_000));
  const sorted = all.toSorted((a, b) => a - b);
  for (const share of [0.5, 0.95, 0.99]) {
    const truth = sorted[Math.ceil(share * all.length) - 1]!;
    const read = quantile(times(all), share)!;
    const index = TIME_CLASSES_MS.findIndex((end) => truth <= end);
    t.ok(
      read >= (TIME_CLASSES_MS[index - 1] ?? 0) && read <= TIME_CLASSES_MS[index]!,
      `${share}: ${read} for ${truth}`,
    );
  }
  t.equal(quantile(times([]), 0.5), null);
  t.equal(quantile(times([900_000]), 0.5), 600_000, "longer than all classes");
  t.equal(quantile(times([3, 3]), 0.5), 2.5);
});

t.test("a minute is kept, of several gateways together", async (t) => {
  const of = new HeardNumbers<string>();
  for (let second = 0; second <= 300; second++) of.take("a", [numbers(second * 2)], second * 1_000);
  const alone = of.figures("d", 300_000);
  t.ok(alone.windowS >= 55 && alone.windowS <= 65, `${alone.windowS} s`);
  t.ok(Math.abs(alone.requestsPerSecond - 2) < 0.01, `${alone.requestsPerSecond} a second`);
  of.take("b", [numbers(40, { errors: { "503": 1 } })], 300_000);
  t.match(of.all(300_000).get("d"), { requests: 640, errors: { "503": 1 } });
  of.leave("b");
  t.match(of.all(300_000).get("d"), { requests: 600 });
  t.equal(of.all(400_000).size, 0, "a silent one says nothing");
});
