import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t from "tap";
import { packFolder, unpackFolder } from "../../src/parts/folder-part.ts";
import { FolderTarget } from "../../src/targets/folder-target.ts";
import { tarHeader } from "../../src/parts/ustar.ts";
import { chunked, collected } from "../helper/bytes.ts";

t.test("a pipe in the place of a backup's file holds nobody up", async (t) => {
  const dir = t.testdir({ data: {} });
  execFileSync("mkfifo", [join(dir, "claim"), join(dir, "data", "part")]);
  const target = await FolderTarget.open(dir);
  for (const path of ["claim", "data/part"])
    await t.rejects(collected(target.get(path)), { code: "backup_target" }, path);
});

const nothing = (): boolean => false;

t.test(
  "a folder comes back with its modes and times, and what is named stays behind",
  async (t) => {
    const dir = t.testdir({
      from: {
        "a.json": "{}",
        empty: "",
        inner: { "b.key": "secret", deep: {} },
        skipped: { c: "c" },
      },
    });
    const from = join(dir, "from");
    const long = join(from, "inner", "l".repeat(90), "m".repeat(90));
    mkdirSync(join(from, "inner", "l".repeat(90)));
    writeFileSync(long, Buffer.alloc(70_000, 1));
    chmodSync(join(from, "inner", "b.key"), 0o440);
    chmodSync(join(from, "inner"), 0o750);
    utimesSync(join(from, "a.json"), 1_700_000_000, 1_700_000_000);
    symlinkSync("/etc/passwd", join(from, "link"));
    const packed = await collected(packFolder(from, (path) => path === "skipped"));
    const into = join(dir, "into");
    await unpackFolder(chunked(packed, 1_000), into);
    t.same(readdirSync(into).sort(), ["a.json", "empty", "inner"]);
    t.equal(readFileSync(join(into, "inner", "b.key"), "utf8"), "secret");
    t.equal(statSync(join(into, "inner", "b.key")).mode & 0o777, 0o440);
    t.equal(statSync(join(into, "inner")).mode & 0o777, 0o750);
    t.equal(statSync(join(into, "a.json")).mtimeMs, 1_700_000_000_000);
    t.ok(readFileSync(long.replace(from, into)).equals(Buffer.alloc(70_000, 1)));
    const listed = execFileSync("tar", ["-tf", "-"], { input: packed, encoding: "utf8" });
    t.match(listed, /inner\/b\.key/, "tar reads it as well");
  },
);

t.test("what tar wrote is unpacked; a link, a way out and a cut end are refused", async (t) => {
  const dir = t.testdir({ from: { file: "x" } });
  const made = execFileSync("tar", ["-cf", "-", "--format=ustar", "-C", join(dir, "from"), "file"]);
  await unpackFolder(chunked(made), join(dir, "by-tar"));
  t.equal(readFileSync(join(dir, "by-tar", "file"), "utf8"), "x");
  symlinkSync("/etc", join(dir, "from", "link"));
  const linked = execFileSync("tar", ["-cf", "-", "-C", join(dir, "from"), "link"]);
  await t.rejects(unpackFolder(chunked(linked), join(dir, "a")), { code: "backup_damaged" });
  const about = { kind: "file", sizeBytes: 1, mode: 0o600, uid: 0, gid: 0, mtimeS: 0 } as const;
  for (const path of ["../out", "/etc/out", "a/../../out", "a//b", "a/./b"]) {
    const bytes = Buffer.concat([tarHeader({ ...about, path }), Buffer.alloc(512)]);
    await t.rejects(unpackFolder(chunked(bytes), join(dir, "b")), { code: "backup_damaged" }, path);
  }
  const whole = await collected(packFolder(join(dir, "from"), nothing));
  await t.rejects(unpackFolder(chunked(whole.subarray(0, 600)), join(dir, "c")), {
    code: "backup_damaged",
  });
});
