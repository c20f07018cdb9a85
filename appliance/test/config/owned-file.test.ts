import { existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import {
  ensureFolder,
  readableBy,
  readForeign,
  ROOT,
  writeOwned,
} from "../../src/config/owned-file.ts";

t.test(
  "a file is written whole, with owner and mode, and a link that was planted beside it is not followed",
  async (t) => {
    const dir = t.testdir({ victim: "untouched" });
    symlinkSync(join(dir, "victim"), join(dir, "secret.part"));
    symlinkSync(join(dir, "victim"), join(dir, "secret"));
    writeOwned(join(dir, "secret"), "new", readableBy(64_100), 0o440);
    t.equal(readFileSync(join(dir, "victim"), "utf8"), "untouched");
    t.ok(lstatSync(join(dir, "secret")).isFile());
    t.equal(readFileSync(join(dir, "secret"), "utf8"), "new");
    const { uid, gid, mode } = statSync(join(dir, "secret"));
    t.same([uid, gid, mode & 0o777], [0, 64_100, 0o440]);
    t.notOk(existsSync(join(dir, "secret.part")));
  },
);

t.test("a link in the place of a folder is not given away", async (t) => {
  const dir = t.testdir({ real: {} });
  symlinkSync(join(dir, "real"), join(dir, "folder"));
  t.throws(
    () => ensureFolder(join(dir, "folder"), { uid: 64_100, gid: 64_100 }, 0o777),
    /is no folder/,
  );
  t.equal(statSync(join(dir, "real")).uid, 0);
  ensureFolder(join(dir, "real"), ROOT, 0o750);
  t.equal(statSync(join(dir, "real")).mode & 0o777, 0o750);
});

t.test("what another user wrote is read only as a small regular file", async (t) => {
  const dir = t.testdir({ small: "policy" });
  symlinkSync("/etc/shadow", join(dir, "link"));
  writeFileSync(join(dir, "large"), "x".repeat(100));
  t.equal(readForeign(join(dir, "small"), 10).toString(), "policy");
  t.throws(() => readForeign(join(dir, "link"), 1_000_000), { code: "ELOOP" });
  t.throws(() => readForeign(join(dir, "large"), 10), /no file of at most 10 bytes/);
  t.throws(() => readForeign(dir, 1_000_000), /no file/);
});
