/** Whether one entry of a shard may be unpacked, and where. The shard is a stranger's file. */
export type ZipEntry = {
  fileName: string;
  uncompressedSize: number;
  compressedSize: number;
  externalFileAttributes: number;
  generalPurposeBitFlag: number;
  versionMadeBy: number;
};

export type EntryVerdict = { ok: true; kind: "file" | "folder"; path: string } | { ok: false; why: string };

const MAX_PATH = 1024;
const UNIX_TYPE = 0o170000;
const UNIX_FILE = 0o100000;
const UNIX_FOLDER = 0o040000;

export function judgeEntry(entry: ZipEntry): EntryVerdict {
  const name = entry.fileName;
  if ((entry.generalPurposeBitFlag & 1) !== 0) return { ok: false, why: `${show(name)} is encrypted` };
  if (name.length > MAX_PATH || name.includes("\0") || name.includes("\\"))
    return { ok: false, why: `${show(name)} is no usable path` };
  if (name.startsWith("/") || /^[A-Za-z]:/.test(name)) return { ok: false, why: `${show(name)} is an absolute path` };
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return { ok: false, why: `${show(name)} leads outside` };
  const type = (entry.externalFileAttributes >>> 16) & UNIX_TYPE;
  if (type !== 0 && type !== UNIX_FILE && type !== UNIX_FOLDER) return { ok: false, why: `${show(name)} is a link or a device` };
  const kind = name.endsWith("/") || type === UNIX_FOLDER ? "folder" : "file";
  return parts.length === 0 && kind === "file"
    ? { ok: false, why: "an entry has no name" }
    : { ok: true, kind, path: parts.join("/") };
}

function show(name: string): string {
  return JSON.stringify(name.slice(0, 120));
}
