import t from "tap";
import { roundWords } from "../../src/job/round-words.ts";

t.test("three rounds that have ended are three, however the workflow numbers them", async (t) => {
  t.equal(roundWords({ done: 3, total: 3 }), "3 of 3 done");
  t.equal(roundWords({ done: 5, total: null }), "5 done");
});
