import t from "tap";
import { nextGeneration } from "../../../src/audit/decisions/generation.ts";

t.test("the generation moves only when database and log disagree", async (t) => {
  t.equal(nextGeneration(0, 0), 1, "both new");
  t.equal(nextGeneration(3, 3), 3, "an ordinary restart");
  t.equal(nextGeneration(3, 5), 6, "a restored database");
  t.equal(nextGeneration(0, 5), 6, "a new database beside an old log");
  t.equal(nextGeneration(6, 5), 7, "a crash between setting and logging, or a restored log");
});
