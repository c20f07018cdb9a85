import t from "tap";
import { startErrorsSentence, startSentence } from "../../src/ui/start-sentence.ts";

t.test("a start is told as a span from now, or with why nobody knows it", async (t) => {
  const now = Date.parse("2026-11-30T12:00:00.000Z");
  const at = (expectedStart: string) => startSentence({ expectedStart, noStart: null }, now);
  t.equal(at("2026-11-30T12:30:00.000Z"), "In 30 min");
  t.equal(at("2026-11-30T11:59:00.000Z"), "Now");
  const ranged = (expectedRange: { from: string; until: string | null }) =>
    startSentence({ expectedStart: "2026-11-30T12:30:00.000Z", expectedRange, noStart: null }, now);
  t.equal(
    ranged({ from: "2026-11-30T12:10:00.000Z", until: "2026-11-30T14:00:00.000Z" }),
    "In 30 min (10 min to 2 h)",
  );
  t.equal(
    ranged({ from: "2026-11-30T11:59:00.000Z", until: null }),
    "In 30 min (0 s or far later)",
  );
  t.match(startSentence({ expectedStart: null, noStart: "no-end-stated" }, now), /^Unknown/);
  t.equal(startSentence({ expectedStart: null, noStart: null }, now), "", "it is held");
});

t.test("how wrong expected starts were is told once enough jobs have started", async (t) => {
  t.equal(startErrorsSentence(null), null);
  t.equal(
    startErrorsSentence({ jobs: 20, earlierSeconds: 130, laterSeconds: 0 }),
    "Of the last 20 jobs 8 in 10 started at most 2 min 10 s before and 0 s after what was expected.",
  );
});
