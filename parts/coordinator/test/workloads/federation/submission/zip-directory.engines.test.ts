import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import t from "tap";
import { ApiError } from "../../../../src/api-error.ts";
import {
  evaluateDirectory,
  locateDirectory,
  TAIL_BYTES,
} from "../../../../src/workloads/federation/submission/zip-directory.ts";
import { zipOf } from "../../../helper/zip-of.ts";

function judge(zip: Buffer) {
  const tail = zip.subarray(Math.max(0, zip.length - TAIL_BYTES));
  const { offset, bytes, entries } = locateDirectory("s.zip", tail, zip.length);
  const steps = evaluateDirectory(
    "s.zip",
    zip.subarray(offset, offset + bytes),
    entries,
    zip.length,
  );
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}
const codeOf = (zip: Buffer): string => {
  try {
    judge(zip);
    return "ok";
  } catch (error) {
    return error instanceof ApiError ? error.code : String(error);
  }
};

t.test("archives of other tools are read", async (t) => {
  const dir = t.testdir();
  const python = (code: string) =>
    execFileSync("python3", ["-c", `import zipfile,os\nos.chdir(${JSON.stringify(dir)})\n${code}`]);
  python(`
with zipfile.ZipFile("plain.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("a/b.txt", "x" * 1000); z.writestr("ü.txt", "y"); z.mkdir("leer")
    z.comment = b"a comment PK\\x05\\x06 inside"
with zipfile.ZipFile("zip64.zip", "w") as z:
    with z.open("large.bin", "w", force_zip64=True) as f: f.write(b"z" * 10)
with zipfile.ZipFile("many.zip", "w") as z:
    for i in range(70_000): z.writestr(str(i), b"")
with zipfile.ZipFile("lzma.zip", "w", zipfile.ZIP_LZMA) as z: z.writestr("a", "x")
`);
  const read = (name: string) => readFileSync(`${dir}/${name}`);
  t.same(judge(read("plain.zip")), { entries: 3, uncompressedBytes: 1001 });
  t.same(judge(read("zip64.zip")), { entries: 1, uncompressedBytes: 10 });
  t.same(judge(read("many.zip")), { entries: 70_000, uncompressedBytes: 0 });
  t.equal(codeOf(read("lzma.zip")), "zip_unsupported");
});

t.test("limits on entries, directory and declared size", async (t) => {
  const claims = zipOf({ a: "x" });
  claims.writeUInt16LE(60_000, claims.length - 12);
  t.equal(codeOf(claims), "shard_not_zip", "more entries than the directory has room for");
  const far = zipOf({ a: "x" });
  far.writeUInt32LE(0x7fff_0000, far.length - 6);
  t.equal(codeOf(far), "shard_not_zip", "a directory outside the file");
  const huge = zipOf({ a: "x" });
  huge.writeUInt32LE(70 * 1024 * 1024, huge.length - 10);
  t.equal(codeOf(huge), "zip_directory_too_large");
  const split = zipOf({ a: "x" });
  split.writeUInt16LE(1, split.length - 18);
  t.equal(codeOf(split), "zip_unsupported");
  t.equal(
    codeOf(zipOf({ a: "x" }, { declaredBytes: 0xffff_ffff })),
    "zip_bomb",
    "a zip64 size that is not there",
  );
});

t.test("unsafe names in every spelling", async (t) => {
  const unsafe = [
    "../a",
    "a/../b",
    "/a",
    "\\a",
    "C:\\a",
    "c:a",
    "a//b",
    "a\nb",
    "a\u0000b",
    "..",
    "x".repeat(300),
    "a\\..\\b",
  ];
  for (const name of unsafe)
    t.equal(codeOf(zipOf({ [name]: "x" })), "zip_unsafe_path", JSON.stringify(name));
  for (const name of [
    "a",
    "a/b",
    "..a",
    "a..",
    "ü/日本.txt",
    "with space",
    "ab:c",
    "folder/.hidden",
  ]) {
    t.equal(codeOf(zipOf({ [name]: "x" })), "ok", JSON.stringify(name));
  }
});

t.test("a path is stored once, as a file or as a folder", async (t) => {
  const conflicts = [
    ["a", "a/b"],
    ["a/b", "a"],
    ["a", "a/"],
    ["a/", "a"],
    ["a/b", "a/b/c/d"],
    ["a/b/c/d", "a/b"],
    ["a", "./a"],
    ["a\\b", "a/b"],
  ];
  for (const names of conflicts)
    t.equal(
      codeOf(zipOf(Object.fromEntries(names.map((name) => [name, "x"])))),
      "zip_path_conflict",
      names.join(" "),
    );
  const fine = [
    ["a/", "a/b/", "a/b/c", "a/b/d", "b"],
    ["a/b", "a/", "ab", "a/bc"],
  ];
  for (const names of fine)
    t.equal(
      codeOf(zipOf(Object.fromEntries(names.map((name) => [name, "x"])))),
      "ok",
      names.join(" "),
    );
});

t.test("names that no rule can read are refused by name", async (t) => {
  t.equal(codeOf(zipOf({ "ü.csv": "x" }, { flags: 0 })), "zip_name_unreadable");
  const codePage = zipOf({ "_.csv": "x" }, { flags: 0 });
  // Code page 437, of which two bytes are control characters in Latin-1.
  for (let at = codePage.indexOf("_.csv"); at >= 0; at = codePage.indexOf("_.csv", at))
    codePage[at] = 0x81;
  t.equal(codeOf(codePage), "ok");
});

t.test("a damaged archive is refused, never a crash", async () => {
  const good = zipOf({ "a.txt": "x".repeat(100), "b/c.txt": "y" });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      fc.nat(good.length),
      (changes, cut) => {
        const damaged = Buffer.from(good.subarray(0, cut < 20 ? good.length : cut));
        for (const [at, value] of changes) if (at < damaged.length) damaged[at] = value;
        return /^(ok|shard_not_zip|zip_[a-z_]+)$/.test(codeOf(damaged));
      },
    ),
    { numRuns: 3_000 },
  );
});
