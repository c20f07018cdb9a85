import t from "tap";
import { modelWords } from "../../src/job/model-words.ts";

t.test("whose the model is, whether it is the last, and whether it holds numbers", async (t) => {
  t.equal(modelWords({ round: 6, isFinal: true, isFinite: true }), "of round 6, the final one");
  t.equal(modelWords({ round: null, isFinal: true, isFinite: null }), "the final one");
  t.equal(
    modelWords({ round: 6, isFinal: false, isFinite: null }),
    "of round 6, the last that was stored before the end",
  );
  t.match(modelWords({ round: 1, isFinal: true, isFinite: false }), /no numbers/);
});
