import { SCORE_FACTORS } from "@resontech/contracts/score-words";
import fc from "fast-check";
import t from "tap";
import {
  loadOf,
  nodeScoreOf,
  priceFactorOf,
  productOf,
  scoreFactorsOf,
  UPTIME_WINDOW_MS,
  uptimeOf,
} from "../../../src/kernel/decisions/node-score.ts";

const DAY = 24 * 3_600_000;
const NOW = 100 * DAY;

t.test("uptime is that of the last seven days, or since the node joined", async (t) => {
  t.equal(uptimeOf(0, NOW, 0), 1);
  t.equal(uptimeOf(0, NOW, UPTIME_WINDOW_MS / 2), 0.5);
  t.equal(uptimeOf(NOW - DAY, NOW, DAY / 4), 0.75);
  t.equal(uptimeOf(NOW, NOW, 0), null, "nobody knows yet");
  t.equal(uptimeOf(NOW + DAY, NOW, 0), null, "the clock was set back");
  t.ok(uptimeOf(0, NOW, 9 * UPTIME_WINDOW_MS)! > 0, "never 0");
});

t.test("load is what is used beyond what held workers explain, in quarters", async (t) => {
  const cpu = (part: number) => ({ cpu: part, memory: null });
  t.equal(loadOf({ cpu: null, memory: null }, 0), null);
  t.equal(loadOf(cpu(0.2), 0), 1, "less than a quarter is noise");
  t.equal(loadOf(cpu(0.3), 0), 0.75);
  t.equal(loadOf(cpu(1), 0), 0.25);
  t.equal(loadOf(cpu(1), 1), 1, "its own jobs use it");
  t.equal(loadOf(cpu(0.8), 0.5), 0.75);
  t.equal(loadOf({ cpu: 0.1, memory: 0.6 }, 0), 0.5, "whichever there is less of");
});

t.test("what nobody knows counts 1, and every factor is told", async (t) => {
  t.equal(nodeScoreOf({ uptime: null, load: null }), 1);
  t.equal(nodeScoreOf({ uptime: null, load: 0.5 }), 0.5);
  t.equal(nodeScoreOf({ uptime: 0.99, load: null }), 1, "some minutes are no step");
  t.equal(nodeScoreOf({ uptime: 0.8, load: 0.75 }), 0.6, "0.6000000000000001 is no step more");
  const factors = scoreFactorsOf({ uptime: 0.8, load: null }, 0.5);
  t.same(
    factors.map(({ factor }) => factor),
    [...SCORE_FACTORS],
  );
  t.same(
    factors.filter(({ value }) => value === null).map(({ factor }) => factor),
    ["tier", "locality", "load"],
  );
  t.equal(productOf(factors), 0.4);
});

t.test("price is measured by the cheapest; what costs nothing counts as a cent", async (t) => {
  t.equal(priceFactorOf(20, 5), 0.25);
  t.equal(priceFactorOf(5, 5), 1);
  t.equal(priceFactorOf(0, 0), 1);
  t.equal(priceFactorOf(10, 0), 0.1);
});

t.test("each factor is above 0 and at most 1, and scores have few steps", async (t) => {
  const part = fc.double({ min: 0, max: 1, noNaN: true });
  const scores = new Set<number>();
  fc.assert(
    fc.property(
      fc.option(part),
      fc.option(part),
      part,
      fc.integer({ min: 0, max: 2 * UPTIME_WINDOW_MS }),
      fc.nat(5_000),
      fc.nat(5_000),
      (cpu, memory, held, silentMs, cents, other) => {
        const standing = {
          uptime: uptimeOf(0, NOW, silentMs),
          load: loadOf({ cpu, memory }, held),
        };
        const price = priceFactorOf(cents, Math.min(cents, other));
        const score = nodeScoreOf(standing);
        scores.add(score);
        return [standing.uptime, standing.load, price, score].every(
          (value) => value === null || (value > 0 && value <= 1),
        );
      },
    ),
    { numRuns: 2_000 },
  );
  t.ok(scores.size > 5 && scores.size <= 20, `${scores.size} steps`);
});
