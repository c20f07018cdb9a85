/** The Python of agent/runners: attempts that the user's code, a kill or an abort ends. */
import t from "tap";
import { testAttempts } from "./helper/python-tests.ts";

testAttempts(
  t,
  "UserFaults",
  "each fault of the user's code has its reason and the traceback's last lines",
);
testAttempts(t, "Ends", "killed and aborted attempts end as the contract says");
