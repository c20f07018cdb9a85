import { mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import t from "tap";
import {
  type RefusalTallyOptions,
  RefusalTally,
  type Repeats,
} from "../../src/producer/refusal-tally.ts";

mock.timers.enable({ apis: ["setTimeout"] });
t.teardown(() => mock.timers.reset());

function tallied(caps?: RefusalTallyOptions["caps"]) {
  const clock = { now: 0 };
  const log = { isAway: false, errors: 0 };
  const written: [string, number | null, number | null][] = [];
  const write = (name: string) => async (repeats: Repeats | null) => {
    if (log.isAway) throw new Error("no auditd");
    written.push([name, repeats?.count ?? null, repeats?.windowS ?? null]);
  };
  const tally = new RefusalTally({
    now: () => clock.now,
    writeBeyond: (repeats, source) => write(`beyond ${source}`)(repeats),
    onError: () => (log.errors += 1),
    ...(caps === undefined ? {} : { caps }),
  });
  const refusal = (source: string, kind: string) => ({
    ...{ source, kind, write: write(`${source} ${kind}`) },
  });
  const minuteEnds = async () => {
    clock.now += 60_000;
    mock.timers.tick(60_000);
    await setImmediate();
  };
  return { tally, refusal, written, clock, log, minuteEnds };
}

t.test("of one source and kind the first is written at once, the rest as one", async (t) => {
  const { tally, refusal, written, clock } = tallied();
  for (let count = 1; count <= 1_000; count += 1)
    t.equal(await tally.add(refusal("10.0.0.1", "invalid")), count);
  t.equal(await tally.add(refusal("10.0.0.1", "malformed")), 1_001, "kinds of a source add up");
  t.equal(await tally.add(refusal("10.0.0.2", "invalid")), 1);
  clock.now = 42_000;
  await tally.close();
  t.same(written, [
    ["10.0.0.1 invalid", null, null],
    ["10.0.0.1 malformed", null, null],
    ["10.0.0.2 invalid", null, null],
    ["10.0.0.1 invalid", 999, 42],
  ]);
});

t.test("the minute's end writes what was counted, and the next refusal is a first", async (t) => {
  const { tally, refusal, written, minuteEnds } = tallied();
  for (let count = 0; count < 3; count += 1) tally.note(refusal("a", "k"));
  await minuteEnds();
  t.same(written.splice(0), [
    ["a k", null, null],
    ["a k", 2, 60],
  ]);
  await tally.add(refusal("a", "k"));
  await minuteEnds();
  t.same(written, [["a k", null, null]], "one alone has no repeats");
  await tally.close();
});

t.test(
  "a flood keeps to the caps: what is beyond them is counted, and delays nobody",
  async (t) => {
    const { tally, refusal, written } = tallied({ sources: 2, kindsOfSource: 3, kinds: 4 });
    for (let kind = 0; kind < 50; kind += 1) await tally.add(refusal("a", `k${kind}`));
    t.equal(await tally.add(refusal("b", "k0")), 1);
    t.equal(await tally.add(refusal("b", "k1")), 2, "beyond all kinds");
    for (let source = 0; source < 50; source += 1)
      t.equal(await tally.add(refusal(`c${source}`, "k")), 1, "no source pays for another");
    t.same(
      written.splice(0).map(([name]) => name),
      ["a k0", "a k1", "a k2"],
    );
    await tally.close();
    t.same(written, [
      ["beyond a", 47, 1],
      ["beyond b", 2, 1],
      ["beyond null", 50, 1],
    ]);
  },
);

t.test("a refusal that can't be written is thrown, and tried again by the next", async (t) => {
  const { tally, refusal, written, log } = tallied();
  log.isAway = true;
  await t.rejects(tally.add(refusal("a", "k")), /no auditd/);
  log.isAway = false;
  t.equal(await tally.add(refusal("a", "k")), 1);
  t.same(written, [["a k", null, null]]);
  await tally.close();
  t.equal(written.length, 1);
});

t.test("what nobody waits for is kept until the log takes it, also over minutes", async (t) => {
  const { tally, refusal, written, log, minuteEnds } = tallied();
  log.isAway = true;
  tally.note(refusal("a", "k"));
  await setImmediate();
  tally.note(refusal("a", "k"));
  await minuteEnds();
  t.same([written, log.errors], [[], 2]);
  log.isAway = false;
  await tally.add(refusal("a", "k"));
  await minuteEnds();
  t.same(written, [["a k", 3, 120]]);
  await tally.close();
});

t.test("closing gives up after a round that the log did not take", async (t) => {
  const { tally, refusal, log } = tallied();
  for (let source = 0; source < 1_000; source += 1)
    for (let count = 0; count < 2; count += 1) await tally.add(refusal(`s${source}`, "k"));
  log.isAway = true;
  await tally.close();
  t.ok(log.errors > 0 && log.errors < 600, `${log.errors} of 1000`);
});

t.test("closing waits for what is under way", async (t) => {
  const { tally, refusal, written } = tallied();
  tally.note(refusal("a", "k"));
  await tally.close();
  t.same(written, [["a k", null, null]]);
});
