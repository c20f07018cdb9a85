import { seededRandom } from "@resontech/house/seeded-random";
import t from "tap";
import { changedList, listChanges } from "../../../src/kernel/decisions/list-changes.ts";
import { isSameValue } from "../../../src/kernel/decisions/same-value.ts";

type Item = { n: number };
const items = Array.from({ length: 200 }, (_, n): Item => ({ n }));
const come = (edits: readonly { come: readonly Item[] }[]) =>
  edits.reduce((sum, edit) => sum + edit.come.length, 0);

t.test("edits make the one list of the other, whatever became of it", (t) => {
  const seed = Date.now() % 1_000_000_007;
  const random = seededRandom(seed);
  for (let n = 0; n < 500; n += 1) {
    const part = random();
    const before = items.filter(() => random() < 0.5);
    const after = before.flatMap((item) =>
      random() < part * 0.2 ? [] : random() < 0.1 ? [{ n: item.n + 1_000 }] : [item],
    );
    // At times some move, and some stand there twice.
    for (let moves = Math.floor(random() * 4); moves > 0; moves -= 1)
      after.splice(Math.floor(random() * after.length), random() < 0.5 ? 1 : 0, items[n % 200]!);
    for (let more = Math.floor(random() * 20); more > 0; more -= 1) after.push({ n: 2_000 + more });
    const made = changedList(before, listChanges(before, after));
    if (made.length !== after.length || made.some((item, at) => item !== after[at]))
      t.fail(`the seed ${seed}, list ${n}`);
  }
  t.end();
});

t.test("what stayed is not told again", (t) => {
  t.same(listChanges(items, [...items]), []);
  const without = [...items.slice(0, 20), ...items.slice(120)];
  t.equal(come(listChanges(items, without)), 0);
  const changed = items.map((item) => (item.n % 50 === 7 ? { n: -1 } : item));
  t.equal(come(listChanges(items, changed)), 4);
  t.equal(come(listChanges(items, [...items.slice(30), { n: -1 }])), 1);
  t.throws(() => changedList([], [{ stay: 1, gone: 0, come: [] }]), RangeError);
  t.end();
});

t.test("values are the same where they are written down alike", (t) => {
  const value = { a: 1, b: [{ c: null }, "x"], d: { e: 0.1 } };
  t.ok(isSameValue(value, structuredClone(value)));
  t.ok(isSameValue({ a: 1, b: undefined }, { a: 1 }));
  t.ok(isSameValue({ a: 1 }, { b: undefined, a: 1 }));
  for (const other of [
    ...[{ ...value, a: 2 }, { ...value, b: [{ c: null }] }, { ...value, d: null }, null, [value]],
    { b: value.b, a: 1, d: value.d },
    { ...value, f: 1 },
  ]) {
    t.notOk(isSameValue(value, other));
    t.notOk(isSameValue(other, value));
  }
  t.end();
});
