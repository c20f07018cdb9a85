/**
 * What an entry of a shard is called (PKWARE APPNOTE 6.3.10, section numbers below). Coordinator and agent read it alike: what a submission
 * accepts is what is unpacked.
 */
import { crc32 } from "node:zlib";

export type ZipPath =
  | {
      ok: true;
      /** Segments with `/` between them, none empty, `.` or `..`; empty for the root folder itself. */
      path: string;
      /** By its name: an entry may also be one by its attributes. */
      isFolder: boolean;
    }
  | { ok: false; fault: "unsafe" | "unreadable"; shown: string };

/** Of Linux' file systems. */
const MAX_SEGMENT_BYTES = 255;
/** Of the 4,096 that Linux takes, some are the place that it is unpacked to. */
const MAX_PATH_BYTES = 2048;
const SHOWN = 100;
/** General purpose flag: the name is UTF-8. */
const IS_UTF8 = 0x0800;
/** 4.6.9, Info-ZIP: the name again, as UTF-8. */
const UNICODE_PATH = 0x7075;
/** Appendix D: what names are written in that no flag says to be UTF-8; its upper half. */
const CP437 =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

/** @param raw the name as it stands in the directory; @param extra the entry's extra field */
export function readZipPath(raw: Buffer, flags: number, extra: Buffer): ZipPath {
  const name = decode(raw, flags, extra);
  if (name === null)
    return { ok: false, fault: "unreadable", shown: raw.toString("latin1").slice(0, SHOWN) };
  const isUnsafe = { ok: false, fault: "unsafe", shown: name.slice(0, SHOWN) } as const;
  // 4.4.17.1 wants forward slashes; some tools of Windows write the others.
  const path = name.replaceAll("\\", "/");
  if (path === "" || /\p{Cc}/u.test(path) || /^[A-Za-z]:/.test(path)) return isUnsafe;
  const segments = path.replace(/\/$/, "").split("/");
  if (
    segments.some(
      (segment) =>
        segment === "" || segment === ".." || Buffer.byteLength(segment) > MAX_SEGMENT_BYTES,
    )
  )
    return isUnsafe;
  const usable = segments.filter((segment) => segment !== ".").join("/");
  if (Buffer.byteLength(usable) > MAX_PATH_BYTES) return isUnsafe;
  return { ok: true, path: usable, isFolder: path.endsWith("/") || usable === "" };
}

/** Decodes a name; null where nobody can say what it reads. */
function decode(raw: Buffer, flags: number, extra: Buffer): string | null {
  if ((flags & IS_UTF8) !== 0) return utf8(raw);
  if (raw.every((byte) => byte < 0x80)) return raw.toString("latin1");
  const marked = unicodePath(raw, extra);
  if (marked !== null) return marked;
  // Without a mark it is code page 437, and would come out as other letters: the Finder writes UTF-8 so …
  if (utf8(raw) !== null) return null;
  // … and a tool of Windows the code page of its country, in some of which this byte is half a letter (Shift-JIS).
  if (raw.includes("\\")) return null;
  return [...raw]
    .map((byte) => (byte < 0x80 ? String.fromCodePoint(byte) : CP437[byte - 0x80]))
    .join("");
}

function utf8(bytes: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Reads the name in Unicode from the extra field; null where there is none, or it belongs to another name. */
function unicodePath(raw: Buffer, extra: Buffer): string | null {
  for (let at = 0; at + 4 <= extra.length; ) {
    const length = extra.readUInt16LE(at + 2);
    const field = extra.subarray(at + 4, at + 4 + length);
    if (
      extra.readUInt16LE(at) === UNICODE_PATH &&
      field.length > 5 &&
      field[0] === 1 &&
      field.readUInt32LE(1) === crc32(raw)
    )
      return utf8(field.subarray(5));
    at += 4 + length;
  }
  return null;
}
