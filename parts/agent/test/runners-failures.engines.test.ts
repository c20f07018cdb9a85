/** The Python of parts/agent/runners: attempts that the user's code ends. */
import t from "tap";
import { testAttempts } from "./helper/python-tests.ts";

testAttempts(t, "test_attempts", {
  UserFaults: "each fault of the user's code has its reason and the traceback's last lines",
});
