import t from "tap";
import { PAUSE_REASONS } from "../../src/http/http-schedules.ts";
import { PAUSE_WORDS, runWords } from "../../src/http/schedule-words.ts";

t.test("why a schedule rests is said of each reason", async (t) => {
  t.equal(PAUSE_WORDS.person, "paused");
  const words = PAUSE_REASONS.map((reason) => PAUSE_WORDS[reason]);
  t.equal(new Set(words).size, PAUSE_REASONS.length);
});

t.test("a run says what became of it", async (t) => {
  t.equal(runWords({ outcome: "submitted", code: null }), "submitted");
  t.equal(
    runWords({ outcome: "skipped", code: "overlap" }),
    "skipped: the run before had not ended",
  );
  t.equal(runWords({ outcome: "refused", code: "inputs_gone" }), "refused: inputs gone");
});
