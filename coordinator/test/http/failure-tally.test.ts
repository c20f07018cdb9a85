import t from "tap";
import { FailureTally } from "../../src/http/failure-tally.ts";

type Logged = { reason: string; count: number; windowS: number; source: string };
function tally(log: (entry: Logged) => Promise<void> = async () => {}) {
  const logged: Logged[] = [];
  const clock = { now: 0 };
  const made = new FailureTally({
    now: () => clock.now,
    log: async (reason, count, windowS, source) => {
      const entry = { reason, count, windowS, source };
      await log(entry);
      logged.push(entry);
    },
    onError: () => {},
  });
  return { made, logged, clock };
}

t.test("the first is logged at once, the rest of its minute as one", async (t) => {
  const { made, logged, clock } = tally();
  for (let count = 1; count <= 1000; count++)
    t.equal((await made.add("10.0.0.1", "invalid_api_key")).count, count);
  await made.add("10.0.0.2", "malformed_bearer");
  clock.now = 42_000;
  await made.close();
  t.same(logged, [
    { reason: "invalid_api_key", count: 1, windowS: 0, source: "10.0.0.1" },
    { reason: "malformed_bearer", count: 1, windowS: 0, source: "10.0.0.2" },
    { reason: "invalid_api_key", count: 999, windowS: 42, source: "10.0.0.1" },
  ]);
});

t.test("a refusal that can't be logged is thrown, and tried again by the next", async (t) => {
  let isAway = true;
  const { made, logged } = tally(async () => {
    if (isAway) throw new Error("no auditd");
  });
  await t.rejects(made.add("10.0.0.1", "x"), /no auditd/);
  isAway = false;
  t.equal((await made.add("10.0.0.1", "x")).count, 1);
  t.equal(logged.length, 1);
  await made.close();
});
