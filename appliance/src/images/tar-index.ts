/**
 * Where the members of a tar archive lie. Nothing is unpacked and no name becomes a path: names are keys, as they stand.
 * https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html#tag_20_94_13_06
 */
import { readSync } from "node:fs";
import { ImageInvalidError } from "./image-invalid-error.ts";

const BLOCK = 512;
const MAX_MEMBERS = 10_000;
/** Of what a header of pax says of the member after it. */
const MAX_EXTENDED_BYTES = 64 * 1024;
const [REGULAR, OLD_REGULAR, FOLDER, EXTENDED, EXTENDED_ALL] = ["0", "\0", "5", "x", "g"];

/** Bytes from the beginning of the file. */
export type Member = { at: number; size: number };

/** Regular files by name, without a leading `./`. @throws ImageInvalidError */
export function indexTar(fd: number, fileSize: number): Map<string, Member> {
  const members = new Map<string, Member>();
  let extended: Map<string, string> | null = null;
  for (let at = 0, count = 0; at < fileSize; count += 1) {
    if (count > MAX_MEMBERS) throw invalid(`it has more than ${MAX_MEMBERS} members`);
    const header = read(fd, at, BLOCK);
    if (header.every((byte) => byte === 0)) return members;
    requireSum(header, at);
    const type = String.fromCharCode(header[156]!);
    const size = Number(extended?.get("size") ?? sizeIn(header.subarray(124, 136)));
    const begins = at + BLOCK;
    if (!Number.isSafeInteger(size) || size < 0 || begins + size > fileSize)
      throw invalid(`its member at byte ${at} is longer than the file`);
    at = begins + Math.ceil(size / BLOCK) * BLOCK;
    if (type === EXTENDED) {
      if (size > MAX_EXTENDED_BYTES) throw invalid("a header of its members is too long");
      extended = recordsOf(read(fd, begins, size));
      continue;
    }
    if (type === EXTENDED_ALL) continue;
    const name = (extended?.get("path") ?? nameIn(header)).replace(/^(?:\.\/)+/, "");
    extended = null;
    if (type === FOLDER) continue;
    if (type !== REGULAR && type !== OLD_REGULAR)
      throw invalid(`${JSON.stringify(name)} is no file: it has the type ${JSON.stringify(type)}`);
    if (members.has(name)) throw invalid(`it has ${JSON.stringify(name)} twice`);
    members.set(name, { at: begins, size });
  }
  throw invalid("it has no end");
}

/** @throws ImageInvalidError where the file is shorter */
export function read(fd: number, at: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let done = 0; done < size; ) {
    const count = readSync(fd, bytes, done, size - done, at + done);
    if (count === 0) throw invalid("it ends too early");
    done += count;
  }
  return bytes;
}

/** The sum that each header has of itself, its own place taken as blanks. */
function requireSum(header: Buffer, at: number): void {
  const said = octal(header.subarray(148, 156));
  const sum = header.reduce(
    (total, byte, index) => total + (index >= 148 && index < 156 ? 0x20 : byte),
    0,
  );
  if (said !== sum) throw invalid(`it is no tar archive: byte ${at} begins no member`);
}

function nameIn(header: Buffer): string {
  const [name, prefix] = [text(header.subarray(0, 100)), text(header.subarray(345, 500))];
  const isUstar = header.toString("latin1", 257, 263) === "ustar\0";
  return isUstar && prefix !== "" ? `${prefix}/${name}` : name;
}

/** Octal digits; or, where the first bit is set, a number of base 256, as GNU writes what is larger than 8 GiB. */
function sizeIn(field: Buffer): number {
  if ((field[0]! & 0x80) === 0) return octal(field);
  return field.subarray(1).reduce((total, byte) => total * 256 + byte, field[0]! & 0x7f);
}

function octal(field: Buffer): number {
  const digits = text(field).trim();
  return /^[0-7]{1,12}$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN;
}

function text(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end < 0 ? field.length : end);
}

/** `<length> <key>=<value>\n`, one after another. */
function recordsOf(bytes: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(0x20, at);
    const length = blank < 0 ? Number.NaN : Number(bytes.toString("latin1", at, blank));
    const end = at + length;
    if (!Number.isInteger(length) || end <= blank || end > bytes.length || bytes[end - 1] !== 0x0a)
      throw invalid("a header of its members can't be read");
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(bytes.toString("utf8", blank + 1, end - 1)) ?? [];
    if (key !== undefined && value !== undefined) records.set(key, value);
    at = end;
  }
  return records;
}

function invalid(why: string): ImageInvalidError {
  return new ImageInvalidError(`the file can't be read as an image: ${why}`);
}
