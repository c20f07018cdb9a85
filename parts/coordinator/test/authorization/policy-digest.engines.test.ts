import { execFileSync } from "node:child_process";
import { join } from "node:path";
import t from "tap";
import { digestOf, readPolicyFiles } from "../../src/authorization/policy-files.ts";

t.test("an auditor makes the digest of the policies with sha256sum alone", async (t) => {
  const folder = join(import.meta.dirname, "..", "..", "..", "..", "policies", "cedar");
  const printed = execFileSync("sh", ["-c", "LC_ALL=C sha256sum * | sha256sum"], {
    ...{ cwd: folder, encoding: "utf8" },
  });
  t.equal(printed, `${digestOf(readPolicyFiles(folder))}  -\n`);
});
