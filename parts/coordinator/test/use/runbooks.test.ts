import t from "tap";
import { Runbooks } from "../../src/use/runbooks.ts";

t.test(
  "a runbook of the release is read, and one that is not there is said to be none",
  async (t) => {
    const runbooks = new Runbooks(t.testdir({ "part-down.md": "# A part is down\n" }));
    t.equal(await runbooks.read("part-down"), "# A part is down\n");
    await t.rejects(runbooks.read("disk-full"), { code: "not_found" });
    await t.rejects(new Runbooks(null).read("part-down"), { code: "not_found" });
  },
);
