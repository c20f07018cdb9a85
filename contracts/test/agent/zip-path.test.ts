import { crc32 } from "node:zlib";
import t from "tap";
import { readZipPath } from "../../src/agent/zip-path.ts";

const UTF8 = 0x0800;
const none = Buffer.alloc(0);
const bytes = (text: string, encoding: BufferEncoding = "utf8"): Buffer =>
  Buffer.from(text, encoding);

/** Info-ZIP's field with the name as UTF-8, for a raw name whose sum is `of`. */
function unicodeField(name: string, of: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), bytes(name)]);
  body.writeUInt32LE(crc32(of), 1);
  const head = Buffer.alloc(4);
  head.writeUInt16LE(0x7075, 0);
  head.writeUInt16LE(body.length, 2);
  return Buffer.concat([head, body]);
}

const read: [what: string, raw: Buffer, flags: number, extra: Buffer, path: string][] = [
  ["ASCII", bytes("a/b.csv"), 0, none, "a/b.csv"],
  ["marked UTF-8", bytes("ü/日本.txt"), UTF8, none, "ü/日本.txt"],
  [
    "marked UTF-8 of the Finder, decomposed, as it is",
    bytes("u\u0308.csv"),
    UTF8,
    none,
    "u\u0308.csv",
  ],
  ["a BOM is a part of the name", bytes("\ufeffa"), UTF8, none, "\ufeffa"],
  ["code page 437", bytes("\x81bung \x82t\x82.csv", "latin1"), 0, none, "übung été.csv"],
  ["its lines and Greek", bytes("\xc4\xe1\xff", "latin1"), 0, none, "─ß\u00a0"],
  [
    "Shift-JIS that can't be told from code page 437",
    bytes("\x83f\x81[\x83^", "latin1"),
    0,
    none,
    "âfü[â^",
  ],
  [
    "Info-ZIP's own field",
    bytes("\x81.csv", "latin1"),
    0,
    unicodeField("ü.csv", bytes("\x81.csv", "latin1")),
    "ü.csv",
  ],
  [
    "that of another name is none",
    bytes("\x81.csv", "latin1"),
    0,
    unicodeField("ä.csv", bytes("other")),
    "ü.csv",
  ],
  ["backslashes of Windows", bytes("a\\b.csv"), 0, none, "a/b.csv"],
  ["points that lead nowhere", bytes("./a/./b"), 0, none, "a/b"],
  ["255 bytes", bytes("ü".repeat(127)), UTF8, none, "ü".repeat(127)],
];
for (const [what, raw, flags, extra, path] of read)
  t.test(`read: ${what}`, async (t) => {
    t.strictSame(readZipPath(raw, flags, extra), { ok: true, path, isFolder: false });
  });

t.test("a folder is one by its name", async (t) => {
  t.strictSame(readZipPath(bytes("a/b/"), UTF8, none), { ok: true, path: "a/b", isFolder: true });
  t.strictSame(readZipPath(bytes("./"), UTF8, none), { ok: true, path: "", isFolder: true });
});

const refused: [what: string, raw: Buffer, flags: number, fault: string][] = [
  ["UTF-8 of the Finder without the mark", bytes("u\u0308.csv"), 0, "unreadable"],
  [
    "Shift-JIS with half a letter that is a backslash",
    bytes("\x95\\.csv", "latin1"),
    0,
    "unreadable",
  ],
  ["marked as UTF-8 and is not", bytes("\x83f", "latin1"), UTF8, "unreadable"],
  ["no name", none, 0, "unsafe"],
  ["a name over 255 bytes in fewer letters", bytes("日".repeat(86)), UTF8, "unsafe"],
  ["a path over 2,048 bytes", bytes("abcdefg/".repeat(257)), 0, "unsafe"],
  ["a path that climbs", bytes("a/../../b"), 0, "unsafe"],
  ["a path that climbs by backslashes", bytes("a\\..\\..\\b"), 0, "unsafe"],
  ["an absolute path", bytes("/etc/passwd"), 0, "unsafe"],
  ["a drive", bytes("C:\\a"), 0, "unsafe"],
  ["a control character", bytes("a\u0085b"), UTF8, "unsafe"],
];
for (const [what, raw, flags, fault] of refused)
  t.test(`refused: ${what}`, async (t) => {
    t.match(readZipPath(raw, flags, none), { ok: false, fault });
  });
