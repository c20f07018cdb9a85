/** What a key may still do. */
import type { KeyLimits } from "@resontech/contracts/inference-routes";
import t from "tap";
import { KeyBudget } from "../../src/limits/key-budget.ts";

const limits = (change: Partial<KeyLimits> = {}): KeyLimits => ({
  ...{ requestsPerMinute: null, tokensPerMinute: null, concurrency: null, ...change },
});

t.test("100 calls at one instant pass no limit", async (t) => {
  for (const [change, taken] of [
    [{ requestsPerMinute: 7 }, 7],
    [{ tokensPerMinute: 1_000 }, 10],
    [{ concurrency: 3 }, 3],
    [{ requestsPerMinute: 50, tokensPerMinute: 1_000, concurrency: 9 }, 9],
    [{}, 100],
  ] as const) {
    const budget = new KeyBudget(limits(change), 0);
    const took = Array.from({ length: 100 }, () => budget.take(100, 0)).filter(
      (over) => over === null,
    );
    t.equal(took.length, taken, JSON.stringify(change));
  }
});

t.test("in no order of calls and ends are more tokens under way than a minute has", async (t) => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  const budget = new KeyBudget(limits({ tokensPerMinute: 1_000, concurrency: 5 }), 0);
  const underWay: number[] = [];
  let used = 0;
  let now = 0;
  for (let step = 0; step < 50_000; step++) {
    if (random(2) === 0) {
      const tokens = 1 + random(1_000);
      if (budget.take(tokens, now) === null) underWay.push(tokens);
    } else if (underWay.length > 0) {
      const [taken = 0] = underWay.splice(random(underWay.length), 1);
      const spent = random(taken + 1);
      used += spent;
      budget.settle(taken, spent, now);
    }
    now += random(200);
    const reserved = underWay.reduce((sum, tokens) => sum + tokens, 0);
    // A full bucket at the start, and what has flown in since.
    const most = 1_000 + now / 60;
    if (used + reserved > most + 1e-6) t.fail(`${used} + ${reserved} of ${most} at ${step}`);
    if (underWay.length > 5) t.fail("more calls at once than allowed");
  }
  t.ok(used > 10_000, `${used} tokens were used`);
});

t.test("who is over hears when there is enough again, and then there is", async (t) => {
  const budget = new KeyBudget(limits({ requestsPerMinute: 60, tokensPerMinute: 600 }), 0);
  t.equal(budget.take(600, 0), null);
  t.same(budget.take(100, 0), { over: "tokens", retryAfterS: 10 });
  t.same(budget.take(100, 9_000), { over: "tokens", retryAfterS: 1 });
  t.equal(budget.take(100, 10_000), null);
  const slow = new KeyBudget(limits({ requestsPerMinute: 1 }), 0);
  slow.take(0, 0);
  t.same(slow.take(0, 1), { over: "requests", retryAfterS: 60 });
});

t.test("what a call did not use is there again, and a debt is paid first", async (t) => {
  const budget = new KeyBudget(limits({ tokensPerMinute: 1_000 }), 0);
  budget.take(1_000, 0);
  t.match(budget.take(1, 0), { over: "tokens" });
  budget.settle(1_000, 300, 0);
  t.equal(budget.headers(0)["x-ratelimit-remaining-tokens"], "700");
  budget.take(700, 0);
  budget.settle(700, 1_200, 0);
  t.equal(budget.headers(0)["x-ratelimit-remaining-tokens"], "0");
  t.match(budget.take(1, 29_000), { over: "tokens" });
});

t.test("the headers name what is limited alone", async (t) => {
  const budget = new KeyBudget(limits({ requestsPerMinute: 10, concurrency: 2 }), 0);
  budget.take(5, 0);
  t.same(budget.headers(0), {
    "x-ratelimit-limit-requests": "10",
    "x-ratelimit-remaining-requests": "9",
    "x-ratelimit-reset-requests": "6s",
  });
  t.same(new KeyBudget(limits(), 0).headers(0), {});
});

t.test("other limits hold at once, and give back nothing that was used", async (t) => {
  const budget = new KeyBudget(limits({ requestsPerMinute: 100 }), 0);
  budget.take(0, 0);
  budget.follow(limits({ requestsPerMinute: 1 }), 0);
  t.equal(budget.take(0, 0), null);
  t.match(budget.take(0, 0), { over: "requests" });
  t.equal(budget.isFresh(0), false);
  budget.settle(0, 0, 0);
  budget.settle(0, 0, 0);
  t.equal(budget.isFresh(60_000), true);
});
