import t from "tap";
import { agreedStart } from "../../../src/kernel/decisions/agreed-start.ts";

const MINUTE = 60_000;
const NOW = 1_000 * MINUTE;

const of = (...minutes: (number | null)[]) => {
  const starts = minutes.map((one) => (one === null ? null : NOW + one * MINUTE));
  const told = agreedStart(starts, NOW);
  if (told === null) return null;
  const after = (at: number | null) => (at === null ? null : (at - NOW) / MINUTE);
  const { at, range } = told;
  return range === undefined
    ? [after(at)]
    : [after(at), { from: after(range.from), until: after(range.until) }];
};

t.test("one future is told as it is, and so are several that agree", async (t) => {
  t.same(of(7), [7]);
  t.same(of(7, 7, 7, 7), [7]);
  t.same(of(0, 0, 0), [0]);
});

t.test("what is near to most is told, and no average that is near to none", async (t) => {
  t.same(of(5, 5.5, 40, 6), [5.4, { from: 5, until: 40 }]);
  t.same(of(5, 6.5), [5.6], "within a minute of the one and a fifth of the other");
  t.same(of(50, 60), [54], "within a fifth of both, the middle of what is");
});

t.test("where futures don't see a start, its end is open, and of most there is none", async (t) => {
  t.same(of(10, 10, null), [10, { from: 10, until: null }]);
  t.same(of(10, null), [10, { from: 10, until: null }]);
  t.equal(of(10, null, null), null);
  t.equal(of(null), null);
});
