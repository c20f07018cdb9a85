import t from "tap";
import { Sequence } from "../../src/decisions/sequence.ts";

const fresh = (boot: string) => Sequence.begin("p", boot, 1);

t.test("places numbers: next, repeat, gap, and any number once after a loss", async (t) => {
  const sequence = fresh("a");
  t.equal(sequence.place(1), "next");
  t.equal(sequence.place(2), "gap");
  sequence.advance(1, 10);
  t.equal(sequence.place(1), "repeat");
  t.equal(sequence.place(3), "gap");
  sequence.allowGap();
  t.equal(sequence.place(7), "next");
  sequence.advance(7, 11);
  t.equal(sequence.place(9), "gap");
});

t.test(
  "what was allowed after a loss, and the last events, are the same over a restart",
  async (t) => {
    const sequence = fresh("a");
    for (let at = 1; at <= 5_000; at++) sequence.advance(at, at * 2);
    sequence.allowGap();
    const restored = new Sequence(structuredClone(sequence.snapshot()));
    t.equal(restored.place(9_000), "next");
    for (const number of [3_977, 4_999, 5_000])
      t.same(restored.locate(number), { index: number * 2, exact: true });
    t.equal(restored.snapshot().recent.length, 1_024);
  },
);

t.test("a life that ended, or an older generation, does not come back", async (t) => {
  const sequence = fresh("g4");
  t.equal(sequence.admitsBoot("g3"), false);
  t.equal(sequence.admitsBoot("g4"), true);
  t.equal(sequence.admitsBoot("g10"), true);
  sequence.startBoot("g10", 51);
  t.equal(sequence.lastPseq, 50);
  t.equal(sequence.admitsBoot("g4"), false);
  const other = fresh("x");
  other.startBoot("y", 1);
  t.equal(other.admitsBoot("x"), false);
  t.equal(other.admitsBoot("z"), true);
});

t.test(
  "finds earlier events: exactly the recent ones, from a mark before them the others, also from a snapshot",
  async (t) => {
    const sequence = fresh("a");
    for (let pseq = 1; pseq <= 20_000; pseq++) sequence.advance(pseq, pseq * 2);
    t.same(sequence.locate(20_000), { index: 40_000, exact: true });
    const restored = new Sequence(structuredClone(sequence.snapshot()));
    for (const pseq of [1, 64, 65, 5_000, 11_777]) {
      for (const one of [sequence, restored]) {
        const found = one.locate(pseq);
        t.ok(found !== null && found.index <= pseq * 2 && found.index > (pseq - 65) * 2, `${pseq}`);
      }
    }
    t.equal(restored.lastPseq, 20_000);
    t.equal(fresh("a").locate(1), null);
  },
);

t.test(
  "a life of millions of events is remembered in bounded memory, and its events are still found",
  async (t) => {
    const sequence = fresh("a");
    for (let pseq = 1; pseq <= 1_000_000; pseq++) sequence.advance(pseq, pseq * 2);
    const { marks, markEvery } = sequence.snapshot();
    t.ok(marks.length <= 1_024, `${marks.length} marks`);
    for (const pseq of [1, 70_000, 500_001, 991_000]) {
      const found = sequence.locate(pseq);
      t.ok(
        found !== null && found.index <= pseq * 2 && found.index > (pseq - 2 * markEvery) * 2,
        `${pseq}`,
      );
    }
  },
);
