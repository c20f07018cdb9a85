/** The Python of agent/runners: attempts whose sites or server leave early, or send what can't be added up. */
import t from "tap";
import { testAttempts } from "./helper/python-tests.ts";

testAttempts(
  t,
  "LeavingSites",
  "each end of a site's process is told with its code or signal, and the quorum decides",
  "test_faults",
);
testAttempts(
  t,
  "UnfitUpdates",
  "updates that do not fit are rejected and counted by site",
  "test_faults",
);
testAttempts(t, "UnfitAlone", "a round that counts nothing fails the job", "test_faults");
testAttempts(t, "LeavingServer", "a server that leaves its run is told as such", "test_faults");
testAttempts(t, "Cancelled", "a stop reaches the handlers of the user's code", "test_faults");
