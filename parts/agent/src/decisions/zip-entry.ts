/** Whether one entry of a shard may be unpacked, and where. The shard is a stranger's file. */
import { readZipPath } from "@resontech/contracts/zip-path";

export type ZipEntry = {
  fileNameRaw: Buffer;
  extraFieldRaw: Buffer;
  externalFileAttributes: number;
  generalPurposeBitFlag: number;
  compressionMethod: number;
};

export type EntryVerdict =
  | { ok: true; kind: "file" | "folder"; path: string }
  | { ok: false; why: string };

const UNIX_TYPE = 0o170000;
const UNIX_FILE = 0o100000;
const UNIX_FOLDER = 0o040000;
const STORED = 0;
const DEFLATED = 8;

export function evaluateEntry(entry: ZipEntry): EntryVerdict {
  const place = readZipPath(entry.fileNameRaw, entry.generalPurposeBitFlag, entry.extraFieldRaw);
  if (!place.ok) {
    const why =
      place.fault === "unsafe"
        ? "is no usable path"
        : "is marked as no code that its name can be read in";
    return { ok: false, why: `${JSON.stringify(place.shown)} ${why}` };
  }
  const shown = JSON.stringify(place.path.slice(0, 120));
  if ((entry.generalPurposeBitFlag & 1) !== 0) return { ok: false, why: `${shown} is encrypted` };
  const type = (entry.externalFileAttributes >>> 16) & UNIX_TYPE;
  if (type !== 0 && type !== UNIX_FILE && type !== UNIX_FOLDER)
    return { ok: false, why: `${shown} is a link or a device` };
  const kind = place.isFolder || type === UNIX_FOLDER ? "folder" : "file";
  if (kind === "file" && entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
    return { ok: false, why: `${shown} is packed by method ${entry.compressionMethod}` };
  return { ok: true, kind, path: place.path };
}
