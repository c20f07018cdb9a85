import t from "tap";
import { lowersGuarantee } from "../../../src/kernel/decisions/lowered-guarantee.ts";
import type { Share } from "../../../src/kernel/decisions/shares.ts";

const share = (id: string, change: Partial<Share> = {}): Share => ({
  ...{ id, parent: null, guarantee: {}, limit: {}, weight: 1 },
  ...change,
});
const before = [
  share("team"),
  share("a", { parent: "team", guarantee: { cpu: 2, h100: 1 } }),
  share("b", { parent: "team", guarantee: { cpu: 2 } }),
];
const lowers = (id: string, change: Partial<Share>) =>
  lowersGuarantee(
    before,
    before.map((one) => (one.id === id ? { ...one, ...change } : one)),
  );

t.test("less of any model is less, more and the first are not", async (t) => {
  t.ok(lowers("a", { guarantee: { cpu: 1, h100: 1 } }));
  t.ok(lowers("a", { guarantee: { cpu: 9 } }), "of the other model none is left");
  t.ok(lowers("a", { guarantee: {} }));
  t.notOk(lowers("a", { guarantee: { cpu: 3, h100: 1 } }));
  t.notOk(lowers("team", { guarantee: { cpu: 4 } }));
  t.notOk(lowers("b", { guarantee: { cpu: 2, l4: 1 } }));
  t.notOk(lowers("b", { weight: 0.1 }), "a weight is of what is lent");
});

t.test("a limit below what is sure takes the rest of it", async (t) => {
  t.ok(lowers("a", { limit: { cpu: 1 } }));
  t.notOk(lowers("a", { limit: { cpu: 2 } }));
  t.notOk(lowers("a", { limit: { l4: 0 } }), "of a model that nobody is sure of");
  t.ok(lowers("team", { limit: { cpu: 3 } }), "its projects are sure of four together");
  t.notOk(lowers("team", { limit: { cpu: 4 } }));
});
