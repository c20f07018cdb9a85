import t from "tap";
import { isMemoryClimb } from "../../src/decisions/memory-climb.ts";

t.test("an eighth of the limit more than was told is told at once", async (t) => {
  t.equal(isMemoryClimb(100, 224, 1_000), false);
  t.equal(isMemoryClimb(100, 225, 1_000), true);
  t.equal(isMemoryClimb(900, 100, 1_000), false, "it fell");
  t.equal(isMemoryClimb(0, 10 ** 12, undefined), false, "nothing ends it");
});
