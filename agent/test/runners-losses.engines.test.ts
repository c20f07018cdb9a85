/** The Python of agent/runners: losses that an attempt outlives. */
import t from "tap";
import { testAttempts } from "./helper/python-tests.ts";

testAttempts(t, "Rejoin", "a site whose container is replaced takes part in the running job again");
testAttempts(t, "Link", "a connection between nodes that breaks costs seconds, and no round");
