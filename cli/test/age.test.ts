import t from "tap";
import { age } from "../src/age.ts";

const now = Date.parse("2026-06-01T00:00:00Z");
const before = (seconds: number) => age(new Date(now - seconds * 1_000).toISOString(), now);

t.test("an age is in its largest unit, and never below nothing", async (t) => {
  t.equal(before(0), "0 s");
  t.equal(before(59.9), "59 s");
  t.equal(before(60), "1 min");
  t.equal(before(3_599), "59 min");
  t.equal(before(3_600), "1 h");
  t.equal(before(86_400 * 3 + 5), "3 d");
  t.equal(before(-5), "0 s", "of a clock that is ahead");
});
