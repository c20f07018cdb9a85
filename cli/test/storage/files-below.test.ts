import t from "tap";
import { pathBelow } from "../../src/storage/files-below.ts";

t.test("a key becomes a path below the target, and never another", async (t) => {
  t.equal(pathBelow("jobs/a/out/b/c.txt", "jobs/a/"), "out/b/c.txt");
  for (const key of [
    "jobs/a/../../etc/passwd",
    "jobs/a//etc",
    "jobs/a/./x",
    "jobs/a/b\\c",
    "jobs/a/x\0",
  ])
    t.throws(() => pathBelow(key, "jobs/a/"), { code: "key_unsafe" }, JSON.stringify(key));
});
