/** The Python of parts/agent/runners: attempts whose sites or server leave early, send what can't be added up, or are stopped. */
import t from "tap";
import { testAttempts } from "./helper/python-tests.ts";

testAttempts(t, "test_faults", {
  LeavingSites:
    "each end of a site's process is told with its code or signal, and the quorum decides",
  UnfitUpdates:
    "updates that do not fit are counted by site, and a round of nothing else fails the job",
  UnfitAlone: "so they are under another workflow, and where the aggregator itself fails",
  LeavingServer: "a server that leaves its run is told as such",
  Cancelled: "a stop reaches the handlers of the user's code, and leaves no process",
});
