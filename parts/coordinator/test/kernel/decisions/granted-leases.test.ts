import t from "tap";
import {
  type GrantedLease,
  longestUntil,
  withAcknowledged,
  withGrant,
} from "../../../src/kernel/decisions/granted-leases.ts";

const grants = (...each: [string | null, number][]): GrantedLease[] =>
  each.map(([nonce, until]) => ({ nonce, until }));
const all = (...each: [string | null, number][]) =>
  grants(...each).reduce<GrantedLease[]>(withGrant, []);

t.test(
  "as long as each lease ends after the one before it, the last one alone counts",
  async (t) => {
    t.same(all([null, 30], ["a", 35], ["b", 40]), grants(["b", 40]));
  },
);

t.test("a shorter lease takes nothing back before the node says that it has it", async (t) => {
  const granted = all(["long", 900], ["short", 40]);
  t.equal(longestUntil(granted), 900);
  t.equal(
    longestUntil(withAcknowledged(granted, "long")),
    900,
    "the answer with the shorter one was lost",
  );
  t.equal(longestUntil(withAcknowledged(granted, "short")), 40);
  t.equal(
    longestUntil(withGrant(withAcknowledged(granted, "short"), { nonce: "next", until: 45 })),
    45,
  );
});

t.test(
  "what is not known forgets nothing: an answer of an earlier life, one that was sent twice",
  async (t) => {
    const granted = all(["long", 900], ["short", 40]);
    t.same(withAcknowledged(granted, "of another life"), granted);
    t.same(withAcknowledged(granted, null), granted);
    t.same(withAcknowledged(withAcknowledged(granted, "short"), "long"), grants(["short", 40]));
  },
);

t.test("a registration that was answered counts as the beat's answer does", async (t) => {
  t.same(withAcknowledged(all(["long", 900], [null, 40]), null), grants([null, 40]));
});
