/** The Python of parts/agent/runners: what goes on in a new attempt. */
import t from "tap";
import { testAttempts } from "./helper/python-tests.ts";

testAttempts(t, "test_attempts", {
  Resume: "a new attempt goes on from a committed round, or fails",
  MakesWay:
    "a server that is to commit ends between two rounds, and the next attempt goes on there",
});
