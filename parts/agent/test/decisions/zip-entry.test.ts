import t from "tap";
import { evaluateEntry } from "../../src/decisions/zip-entry.ts";

const entry = (name: string, mode = 0, flags = 0x0800, compressionMethod = 8) => ({
  fileNameRaw: Buffer.from(name),
  extraFieldRaw: Buffer.alloc(0),
  externalFileAttributes: mode * 65_536,
  generalPurposeBitFlag: flags,
  compressionMethod,
});

t.test("files and folders of any layout are taken, at their place below the data root", (t) => {
  for (const [name, mode, kind, path] of [
    ["a.csv", 0o100644, "file", "a.csv"],
    ["deep/er/a.csv", 0, "file", "deep/er/a.csv"],
    ["./a/b.csv", 0, "file", "a/b.csv"],
    ["folder/", 0o040755, "folder", "folder"],
    ["folder", 0o040755, "folder", "folder"],
    ["…/ünïcode", 0, "file", "…/ünïcode"],
    ["..a/b..", 0, "file", "..a/b.."],
    ["./", 0, "folder", ""],
  ] as const)
    t.strictSame(evaluateEntry(entry(name, mode)), { ok: true, kind, path }, name);
  t.end();
});

t.test("what leads outside, is no file, or can't be read is refused by name", (t) => {
  for (const [name, mode, flags, why, method] of [
    ["/etc/passwd", 0, 0, /no usable path/],
    ["C:/windows", 0, 0, /no usable path/],
    ["../a", 0, 0, /no usable path/],
    ["a/../../b", 0, 0, /no usable path/],
    ["a\\..\\b", 0, 0, /no usable path/],
    ["a\0b", 0, 0, /no usable path/],
    ["x".repeat(2_000), 0, 0, /no usable path/],
    ["ü.csv", 0, 0, /marked as no code/],
    ["link", 0o120777, 0, /link or a device/],
    ["fifo", 0o010644, 0, /link or a device/],
    ["disk", 0o060644, 0, /link or a device/],
    ["secret", 0, 1, /encrypted/],
    ["lzma", 0, 0, /method 14/, 14],
  ] as const) {
    const verdict = evaluateEntry(entry(name, mode, flags, method));
    t.equal(verdict.ok, false, name);
    t.match(verdict.ok ? "" : verdict.why, why);
    t.ok(verdict.ok || verdict.why.length < 300, "a message stays short");
  }
  t.end();
});
