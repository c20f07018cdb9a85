import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { removeFileNow, replaceFileNow } from "../src/durable-file-now.ts";

t.test(
  "a file is replaced as a whole, with its mode whatever the umask, and nothing is left beside it",
  async (t) => {
    const folder = t.testdir({ state: "old" });
    const path = join(folder, "state");
    const umask = process.umask(0o077);
    t.teardown(() => process.umask(umask));
    replaceFileNow(path, "new", 0o644);
    t.equal(readFileSync(path, "utf8"), "new");
    t.equal(statSync(path).mode & 0o777, 0o644);
    t.same(readdirSync(folder), ["state"]);
  },
);

t.test(
  "what a killed writer left, or somebody put in its place, is not written through",
  async (t) => {
    const folder = t.testdir({ other: "untouched" });
    const path = join(folder, "state");
    symlinkSync(join(folder, "other"), `${path}.part`);
    replaceFileNow(path, "first", 0o600);
    writeFileSync(`${path}.part`, "half of wh");
    replaceFileNow(path, Buffer.from("second"), 0o600, {
      uid: process.getuid!(),
      gid: process.getgid!(),
    });
    t.equal(readFileSync(path, "utf8"), "second");
    t.equal(readFileSync(join(folder, "other"), "utf8"), "untouched");
    t.same(readdirSync(folder).sort(), ["other", "state"]);
  },
);

t.test(
  "a file is taken away, a second time too, and a folder that is not there is told",
  async (t) => {
    const folder = t.testdir({ schedule: "hourly", other: "stays" });
    for (const _ of [1, 2]) {
      removeFileNow(join(folder, "schedule"));
      t.same(readdirSync(folder), ["other"]);
    }
    t.throws(() => removeFileNow(join(folder, "missing", "schedule")), { code: "ENOENT" });
  },
);
