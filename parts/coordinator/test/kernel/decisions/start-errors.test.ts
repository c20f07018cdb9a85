import t from "tap";
import { startErrors } from "../../../src/kernel/decisions/start-errors.ts";

t.test("eight of ten lie within what is told, and too few tell nothing", async (t) => {
  t.equal(startErrors([1, 2, 3, 4]), null);
  const late = Array.from({ length: 11 }, (_, at) => (at - 3) * 1_000);
  t.same(startErrors(late.toReversed()), { jobs: 11, earlierMs: 2_000, laterMs: 6_000 });
  t.same(startErrors([5, 5, 5, 5, 5]), { jobs: 5, earlierMs: 0, laterMs: 5 });
  t.same(startErrors([-5, -5, -5, -5, -5]), { jobs: 5, earlierMs: 5, laterMs: 0 });
});
