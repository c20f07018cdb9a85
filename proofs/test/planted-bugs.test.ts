/** Each bug that the proof `scheduler-histories` plants has its place still: one that is planted nowhere would be found by nobody. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { PLANTED_BUGS } from "../faults/scheduler-histories/planted-bugs.ts";

const KERNEL = join(import.meta.dirname, "..", "..", "parts/coordinator/src/kernel");

t.test("each planted bug has one place in the code", async (t) => {
  t.ok(PLANTED_BUGS.length >= 10);
  for (const { what, file, from, to } of PLANTED_BUGS) {
    t.equal(readFileSync(join(KERNEL, file), "utf8").split(from).length, 2, what);
    t.not(from, to);
  }
});
