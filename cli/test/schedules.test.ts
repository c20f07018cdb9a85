import { PAUSE_REASONS } from "@resontech/contracts/http-schedules";
import t from "tap";
import { nextWords, runWords } from "../src/schedules/commands.ts";

t.test("a schedule says when it runs next, or why it rests", async (t) => {
  const nextAt = "2026-12-01T02:00:00.000Z";
  t.equal(nextWords({ nextAt, pausedBy: null }), nextAt);
  t.equal(nextWords({ nextAt: null, pausedBy: "person" }), "paused");
  for (const pausedBy of PAUSE_REASONS)
    t.match(nextWords({ nextAt: null, pausedBy }), /^paused(: the|: its|$)/, pausedBy);
});

t.test("a run says what became of it", async (t) => {
  t.equal(runWords({ outcome: "submitted", code: null }), "submitted");
  t.equal(
    runWords({ outcome: "skipped", code: "overlap" }),
    "skipped: the run before had not ended",
  );
  t.equal(runWords({ outcome: "refused", code: "inputs_gone" }), "refused: inputs gone");
});
