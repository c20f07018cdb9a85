/** The Python of agent/runners: its own decisions, and whole attempts that succeed or fail by the user's code. */
import t from "tap";
import { runUnittest, testAttempts } from "./helper/python-tests.ts";

t.test("the runner's own decisions", async (t) => {
  const { status, output } = await runUnittest("test_units");
  t.equal(status, 0, "every unit test passes", { output });
  t.match(output, /Ran \d\d tests/);
});

testAttempts(t, "Success", "a whole federated attempt succeeds and tells its rounds");
testAttempts(t, "UserFaults", "each fault of the user's code has its reason and the traceback's last lines");
testAttempts(t, "Ends", "killed and aborted attempts end as the contract says");
