/**
 * Judges a zip by its central directory alone (PKWARE APPNOTE 6.3.10; section numbers below). The unpacker judges again: this
 * is for telling the submitter at once, not for safety while unpacking.
 */
import { readZipPath } from "@resontech/contracts/zip-path";
import { ApiError } from "../../../api-error.ts";

export const MAX_DIRECTORY_BYTES = 64 * 1024 * 1024;
export const MAX_ENTRIES = 1_000_000;
/** 4.3.16: 22 bytes and a comment of at most 65,535; before it the zip64 locator (20) and record (56). */
export const TAIL_BYTES = 22 + 65_535 + 20 + 56;

/** An archive may unpack to this much without questions … */
const FREE_BYTES = 1024 ** 3;
/** … and beyond it to this multiple of its own size. Deflate's own limit is about 1,032. */
const MAX_RATIO = 200;

const END_SIGNATURE = 0x06054b50;
const ZIP64_LOCATOR_SIGNATURE = 0x07064b50;
const ZIP64_END_SIGNATURE = 0x06064b50;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;

export type DirectoryPlace = { offset: number; bytes: number; entries: number };
export type ZipSummary = { entries: number; uncompressedBytes: number };

/**
 * Where the central directory is, from the archive's last bytes.
 * @param tail the last min(size, {@link TAIL_BYTES}) bytes
 * @throws ApiError shard_not_zip, zip_unsupported, zip_directory_too_large
 */
export function locateDirectory(name: string, tail: Buffer, sizeBytes: number): DirectoryPlace {
  const end = findEnd(tail);
  if (end < 0) throw new ApiError("shard_not_zip", `${name} is not a zip archive`);
  const tailStart = sizeBytes - tail.length;
  const place = readPlace(name, tail, end, tailStart);
  if (place.entries > MAX_ENTRIES || place.bytes > MAX_DIRECTORY_BYTES) {
    throw new ApiError(
      "zip_directory_too_large",
      `${name} lists more than ${MAX_ENTRIES} entries or ${MAX_DIRECTORY_BYTES} bytes`,
    );
  }
  if (place.offset + place.bytes > tailStart + end || place.entries * ENTRY_BYTES > place.bytes) {
    throw new ApiError("shard_not_zip", `${name} is damaged: its directory lies outside the file`);
  }
  return place;
}

/**
 * Reads the directory; yields now and then, so that a million entries don't hold up everybody else.
 * @throws ApiError shard_not_zip, zip_*
 */
export function* evaluateDirectory(
  name: string,
  directory: Buffer,
  entries: number,
  sizeBytes: number,
): Generator<undefined, ZipSummary> {
  let at = 0;
  let uncompressedBytes = 0;
  const places = new Places(name);
  for (let index = 0; index < entries; index++) {
    if (index % 10_000 === 9_999) yield;
    if (at + ENTRY_BYTES > directory.length || directory.readUInt32LE(at) !== ENTRY_SIGNATURE) {
      throw new ApiError(
        "shard_not_zip",
        `${name} is damaged: entry ${index + 1} of its directory can't be read`,
      );
    }
    const entry = readEntry(directory, at);
    if (entry.end > directory.length)
      throw new ApiError("shard_not_zip", `${name} is damaged: its directory is cut off`);
    places.take(evaluateEntry(name, entry));
    uncompressedBytes += entry.uncompressedBytes;
    if (uncompressedBytes > Math.max(FREE_BYTES, sizeBytes * MAX_RATIO)) {
      throw new ApiError(
        "zip_bomb",
        `${name} has ${sizeBytes} bytes and would unpack to more than ${MAX_RATIO} times as many`,
      );
    }
    at = entry.end;
  }
  if (places.files === 0) throw new ApiError("zip_empty", `${name} holds no file`);
  return { entries, uncompressedBytes };
}

/** 4.3.16, searched backwards because a comment may follow; its length must reach exactly to the end. */
function findEnd(tail: Buffer): number {
  for (let at = tail.length - 22; at >= 0; at--) {
    if (
      tail.readUInt32LE(at) === END_SIGNATURE &&
      at + 22 + tail.readUInt16LE(at + 20) === tail.length
    )
      return at;
  }
  return -1;
}

function readPlace(name: string, tail: Buffer, end: number, tailStart: number): DirectoryPlace {
  const isSplit = tail.readUInt16LE(end + 4) !== 0 || tail.readUInt16LE(end + 6) !== 0;
  const entries = tail.readUInt16LE(end + 10);
  const bytes = tail.readUInt32LE(end + 12);
  const offset = tail.readUInt32LE(end + 16);
  const needsZip64 = entries === 0xffff || bytes === 0xffff_ffff || offset === 0xffff_ffff;
  if (!needsZip64) {
    if (isSplit) throw new ApiError("zip_unsupported", `${name} is part of a split archive`);
    return { entries, bytes, offset };
  }
  // 4.3.15: the locator stands right before the end record and says where the zip64 record is.
  const locator = end - 20;
  if (locator < 0 || tail.readUInt32LE(locator) !== ZIP64_LOCATOR_SIGNATURE) {
    throw new ApiError("shard_not_zip", `${name} is damaged: its zip64 record is missing`);
  }
  const record = Number(tail.readBigUInt64LE(locator + 8)) - tailStart;
  if (record < 0 || record + 56 > locator || tail.readUInt32LE(record) !== ZIP64_END_SIGNATURE) {
    throw new ApiError(
      "shard_not_zip",
      `${name} is damaged: its zip64 record is not where it should be`,
    );
  }
  // 4.3.14
  if (tail.readUInt32LE(record + 16) !== 0 || tail.readUInt32LE(record + 20) !== 0) {
    throw new ApiError("zip_unsupported", `${name} is part of a split archive`);
  }
  return {
    entries: Number(tail.readBigUInt64LE(record + 32)),
    bytes: Number(tail.readBigUInt64LE(record + 40)),
    offset: Number(tail.readBigUInt64LE(record + 48)),
  };
}

/** What lies where in the archive: no path twice, none a file and a folder. */
class Places {
  readonly #name: string;
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  constructor(name: string) {
    this.#name = name;
  }

  get files(): number {
    return this.#files.size;
  }

  take({ path, isFolder }: { path: string; isFolder: boolean }): void {
    if (this.#files.has(path)) this.#refuse(path, isFolder ? "as a file and as a folder" : "twice");
    if (!isFolder && this.#folders.has(path)) this.#refuse(path, "as a file and as a folder");
    (isFolder ? this.#folders : this.#files).add(path);
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end);
      // Then so are those above it.
      if (this.#folders.has(folder)) break;
      if (this.#files.has(folder)) this.#refuse(folder, "as a file and as a folder");
      this.#folders.add(folder);
    }
  }

  #refuse(path: string, how: string): never {
    throw new ApiError(
      "zip_path_conflict",
      `${this.#name} holds ${JSON.stringify(path.slice(0, 100))} ${how}`,
    );
  }
}

type Entry = {
  rawName: Buffer;
  extra: Buffer;
  flags: number;
  method: number;
  host: number;
  attributes: number;
  uncompressedBytes: number;
  end: number;
};

/** 4.3.12 */
function readEntry(directory: Buffer, at: number): Entry {
  const nameBytes = directory.readUInt16LE(at + 28);
  const extraBytes = directory.readUInt16LE(at + 30);
  const commentBytes = directory.readUInt16LE(at + 32);
  const flags = directory.readUInt16LE(at + 8);
  const nameAt = at + ENTRY_BYTES;
  const rawName = directory.subarray(nameAt, nameAt + nameBytes);
  const declared = directory.readUInt32LE(at + 24);
  const extra = directory.subarray(nameAt + nameBytes, nameAt + nameBytes + extraBytes);
  return {
    rawName,
    extra,
    flags,
    method: directory.readUInt16LE(at + 10),
    host: directory.readUInt8(at + 5),
    attributes: directory.readUInt32LE(at + 38),
    uncompressedBytes: declared === 0xffff_ffff ? zip64Size(extra) : declared,
    end: nameAt + nameBytes + extraBytes + commentBytes,
  };
}

/** 4.5.3: the uncompressed size comes first when it did not fit. An absent one counts as more than any archive may hold. */
function zip64Size(extra: Buffer): number {
  for (let at = 0; at + 4 <= extra.length; ) {
    const length = extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === 0x0001 && length >= 8 && at + 12 <= extra.length)
      return Number(extra.readBigUInt64LE(at + 4));
    at += 4 + length;
  }
  return Number.MAX_SAFE_INTEGER;
}

const UNIX = 3;
const FILE_TYPE_MASK = 0xf000;
const REGULAR = 0x8000;
const FOLDER = 0x4000;

/** @throws ApiError zip_* */
function evaluateEntry(
  name: string,
  { rawName, extra, flags, method, host, attributes }: Entry,
): { path: string; isFolder: boolean } {
  const place = readZipPath(rawName, flags, extra);
  if (!place.ok) {
    const code = place.fault === "unsafe" ? "zip_unsafe_path" : "zip_name_unreadable";
    throw new ApiError(code, `${name} holds ${JSON.stringify(place.shown)}`);
  }
  const shown = JSON.stringify(place.path.slice(0, 100));
  // 4.4.4: bit 0 encrypted, 6 strongly, 13 with a hidden directory.
  if ((flags & 0x2041) !== 0) throw new ApiError("zip_encrypted", `${name}: ${shown} is encrypted`);
  const type = host === UNIX ? (attributes >>> 16) & FILE_TYPE_MASK : 0;
  if (type !== 0 && type !== REGULAR && type !== FOLDER) {
    throw new ApiError("zip_link", `${name}: ${shown} is a link or a special file`);
  }
  // 4.4.5: 0 stored, 8 deflated.
  if (method !== 0 && method !== 8)
    throw new ApiError("zip_unsupported", `${name}: ${shown} uses compression method ${method}`);
  return { path: place.path, isFolder: place.isFolder || type === FOLDER };
}
