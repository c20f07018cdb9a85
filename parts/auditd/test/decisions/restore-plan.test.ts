import t from "tap";
import {
  type Held,
  mayBeFollowed,
  planRestore,
  rolledBackFrom,
  type Seen,
  SeenMost,
} from "../../src/decisions/restore-plan.ts";

const origin = (slug: string) => `box.audit.acme/${slug}`;
const held: Held = { origin: origin("2026"), size: 10, later: new Map() };
const seen = (
  slug: string | null,
  size: number,
  by = "reader",
  root: string | null = by,
): Seen => ({
  origin: slug === null ? null : origin(slug),
  ...{ size, root, by },
});
const ack = (size: number): Seen => seen(null, size, "gate", null);
const JANUARY = Date.UTC(2027, 0, 5);

t.test("a log is rolled back when anybody has seen more of it than it holds", async (t) => {
  t.equal(rolledBackFrom(held, []), null);
  t.equal(rolledBackFrom(held, [seen("2026", 10), ack(10)]), null);
  t.same(rolledBackFrom(held, [ack(12), seen("2026", 40), seen("2026", 11)]), seen("2026", 40));
  t.same(
    rolledBackFrom(held, [seen("2026", 40), seen("2027", 3)]),
    seen("2027", 3),
    "the newest shard first",
  );
  t.equal(
    rolledBackFrom(held, [seen("2025", 99), seen("2027", 0)]),
    null,
    "older ones ended long ago, and an empty one is none",
  );
  const cutTurn = { ...held, later: new Map([[origin("2027"), 5]]) };
  t.equal(
    rolledBackFrom(cutTurn, [seen("2027", 5)]),
    null,
    "a turn that was cut short is ended by the next start",
  );
  t.same(rolledBackFrom(cutTurn, [seen("2027", 6)]), seen("2027", 6));
});

t.test(
  "the new shard follows the newest one that may have been begun, and names what is lost",
  async (t) => {
    type Case = {
      seen: Seen[];
      named?: string[];
      begun?: string[];
      areKeysGone?: boolean;
      nowMs?: number | null;
      plan: object;
    };
    const own = (size: number, root: string | null) => ({ origin: held.origin, size, root });
    const lost = (slug: string, size: number, root: string | null) => ({
      origin: origin(slug),
      size,
      root,
    });
    const cases: Record<string, Case> = {
      "of one shard": {
        seen: [seen("2026", 40)],
        plan: { slug: "2026-2", seen: own(40, "reader"), lost: [] },
      },
      "the root is said with the size": {
        seen: [ack(40), seen("2026", 40)],
        plan: { seen: own(40, "reader") },
      },
      "acknowledgements alone": {
        seen: [ack(12)],
        plan: { slug: "2026-2", seen: own(12, null), lost: [] },
      },
      "the next one is only prepared": {
        seen: [ack(12)],
        named: ["2027"],
        plan: { slug: "2026-2", seen: own(12, null), lost: [] },
      },
      "its year has come: it may have been begun": {
        ...{ seen: [ack(5)], named: ["2027"], nowMs: JANUARY },
        plan: { slug: "2027-2", seen: own(10, null), lost: [lost("2027", 5, null)] },
      },
      "nobody vouches for the clock: it may have been begun": {
        ...{ seen: [ack(5)], named: ["2027"], nowMs: null },
        plan: { slug: "2027-2", lost: [lost("2027", 5, null)] },
      },
      "keys that are gone, by a clock that is behind": {
        ...{ seen: [], named: ["2027"], areKeysGone: true, nowMs: 0 },
        plan: { slug: "2027-2", seen: own(10, null), lost: [lost("2027", 0, null)] },
      },
      "keys that are gone while the year after next is prepared": {
        ...{ seen: [], named: ["2027", "2028"], areKeysGone: true, nowMs: Date.UTC(2027, 11, 9) },
        plan: { slug: "2027-2", lost: [lost("2027", 0, null)] },
      },
      "both were seen": {
        seen: [seen("2026", 40), seen("2027", 7), seen("2027", 9, "witness"), ack(33), ack(8)],
        ...{ named: ["2027"], areKeysGone: true, nowMs: JANUARY },
        plan: { slug: "2027-2", seen: own(40, "reader"), lost: [lost("2027", 9, "witness")] },
      },
      "an opening that was broken off is gone on with, whatever was said then": {
        ...{ seen: [], named: ["2027"], begun: ["2027-2"] },
        plan: { slug: "2027-2", lost: [lost("2027", 0, null)] },
      },
      "of its keys alone nobody can tell": {
        ...{ seen: [], named: ["2027", "2027-2"] },
        plan: { slug: "2027-3", lost: [lost("2027", 0, null), lost("2027-2", 0, null)] },
      },
      "more than it was opened after": {
        ...{ seen: [seen("2027-2", 7)], named: ["2027"], begun: ["2027-2"] },
        plan: { slug: "2027-3", lost: [lost("2027", 0, null), lost("2027-2", 7, "reader")] },
      },
      "put back from years before": {
        ...{
          seen: [seen("2028", 7)],
          named: ["2027", "2028", "2029"],
          areKeysGone: true,
          nowMs: Date.UTC(2028, 5, 1),
        },
        plan: { slug: "2028-2", lost: [lost("2027", 0, null), lost("2028", 7, "reader")] },
      },
      "put back a second time": {
        ...{ seen: [seen("2026", 40), seen("2026-2", 7)], named: ["2026-2"], areKeysGone: true },
        plan: { slug: "2026-3", seen: own(40, "reader"), lost: [lost("2026-2", 7, "reader")] },
      },
      "an opening after the turn was put back, too": {
        ...{
          seen: [seen("2027", 7)],
          named: ["2027", "2027-2"],
          areKeysGone: true,
          nowMs: JANUARY,
        },
        plan: { slug: "2027-3", lost: [lost("2027", 7, "reader"), lost("2027-2", 0, null)] },
      },
    };
    const december = Date.UTC(2026, 11, 20);
    for (const [
      what,
      { seen: by, named = [], begun = [], areKeysGone = false, nowMs = december, plan },
    ] of Object.entries(cases))
      t.match(
        planRestore(
          held,
          by,
          { named: named.map(origin), begun: begun.map(origin) },
          areKeysGone,
          nowMs,
        ),
        plan,
        what,
      );
  },
);

t.test("no more shards are named than an entry may name", async (t) => {
  const many = Array.from({ length: 20 }, (_, n) => seen(`20${30 + n}`, 1));
  const { slug, lost } = planRestore(held, many, { named: [], begun: [] }, true, JANUARY);
  t.equal(slug, "2049-2");
  t.equal(lost.length, 16);
  t.equal(lost.at(-1)?.origin, origin("2049"));
});

t.test("what is said again and again is kept once, and no more than a log ever has", async (t) => {
  const most = new SeenMost(held.size);
  for (let n = 0; n < 3; n++) for (const size of [5, 3, 40, 30]) most.add(ack(size));
  t.same(most.all, [ack(5), ack(40)], "each on its side of what is held");
  most.add(seen("2026", 40, "reader", null));
  most.add(seen("2026", 40));
  most.add(seen("2026", 12));
  t.same(most.all.slice(2), [seen("2026", 40)]);
  for (let n = 1; n < 9_999; n++) most.add(seen(`2030-${n}`, 1));
  t.equal(most.all.length, 1_024);
  most.add(seen("2026", 50));
  t.match(rolledBackFrom(held, most.all.slice(0, 3)), { size: 50 }, "what is known grows on");
});

t.test("no shard can follow one whose follower would have no name", async (t) => {
  t.same(["2026", "2026-2", "9998", "9999", "2026-9999", "10000", "20x6"].filter(mayBeFollowed), [
    "2026",
    "2026-2",
    "9998",
  ]);
});
