/** The Python of agent/runners: what goes on after a loss. */
import t from "tap";
import { testAttempts } from "./helper/python-tests.ts";

testAttempts(t, "Resume", "a new attempt goes on from a committed round, or fails");
testAttempts(t, "Rejoin", "a site whose container is replaced takes part in the running job again");
testAttempts(t, "Link", "a connection between nodes that breaks costs seconds, and no round");
