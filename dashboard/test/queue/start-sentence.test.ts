import t from "tap";
import { startSentence } from "../../src/ui/start-sentence.ts";

t.test("a start is told as a span from now, or with why nobody knows it", async (t) => {
  const now = Date.parse("2026-11-30T12:00:00.000Z");
  const at = (expectedStart: string) => startSentence({ expectedStart, noStart: null }, now);
  t.equal(at("2026-11-30T12:30:00.000Z"), "In 30 min");
  t.equal(at("2026-11-30T11:59:00.000Z"), "Now");
  t.match(startSentence({ expectedStart: null, noStart: "no-end-stated" }, now), /^Unknown/);
  t.equal(startSentence({ expectedStart: null, noStart: null }, now), "", "it is held");
});
