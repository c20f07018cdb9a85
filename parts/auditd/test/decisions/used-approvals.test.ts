import t from "tap";
import { begun, done, isUsed } from "../../src/decisions/used-approvals.ts";

const DAY_MS = 86_400_000;

t.test(
  "an approval changes the policy once; one that was cut off goes on, unless another began",
  async (t) => {
    const first = begun([], "a_1", 1);
    t.equal(isUsed(first, "a_1"), false, "killed before it was done: it may go on");
    t.same(begun(first, "a_1", 2), [{ approval: "a_1", atMs: 2, done: false }]);
    t.equal(isUsed(done(first, "a_1"), "a_1"), true);
    const second = begun(first, "a_2", 2);
    t.equal(isUsed(second, "a_1"), true, "it can't come back behind the other's back");
    t.equal(isUsed(second, "a_2"), false);
    t.equal(isUsed(second, "a_3"), false);
  },
);

t.test("what is too old to be taken anyway is forgotten", async (t) => {
  const used = done(begun([], "a_1", 0), "a_1");
  t.equal(begun(used, "a_2", 13 * DAY_MS).length, 2);
  t.equal(begun(used, "a_2", 15 * DAY_MS).length, 1);
});
