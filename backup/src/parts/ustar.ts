/** Headers of a tar archive: POSIX.1-1988 as it is written, and what PostgreSQL and the log's export write as it is read. */
export const BLOCK_BYTES = 512;
export const END_OF_ARCHIVE = Buffer.alloc(2 * BLOCK_BYTES);

export type TarEntry = {
  /** Relative, without `.` and `..`; a folder's without a slash at its end. */
  path: string;
  kind: "file" | "folder";
  sizeBytes: number;
  mode: number;
  uid: number;
  gid: number;
  mtimeS: number;
};

/** @throws RangeError for what has no place in a header */
export function tarHeader(entry: TarEntry): Buffer {
  const { prefix, name } = split(entry.kind === "folder" ? `${entry.path}/` : entry.path);
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0, "utf8");
  header.write(octal(entry.mode & 0o7777, 7), 100, "latin1");
  header.write(octal(entry.uid, 7), 108, "latin1");
  header.write(octal(entry.gid, 7), 116, "latin1");
  header.write(octal(entry.sizeBytes, 11), 124, "latin1");
  header.write(octal(Math.max(0, Math.floor(entry.mtimeS)), 11), 136, "latin1");
  header.write("        ", 148, "latin1");
  header.write(entry.kind === "folder" ? "5" : "0", 156, "latin1");
  header.write("ustar\x0000", 257, "latin1");
  header.write(prefix, 345, "utf8");
  header.write(octal(sumOf(header), 6), 148, "latin1");
  header.write(" ", 155, "latin1");
  return header;
}

/** Reads one entry; null at the archive's end. @throws RangeError for a header that is none, or that leads out of its folder */
export function readTarHeader(header: Buffer): TarEntry | null {
  if (header.every((byte) => byte === 0)) return null;
  if (numberIn(header, 148, 8) !== sumOf(header)) throw new RangeError("a header was changed");
  const type = String.fromCharCode(header[156]!);
  const kind = type === "0" || type === "\0" ? "file" : type === "5" ? "folder" : null;
  const isUstar = header.toString("latin1", 257, 262) === "ustar";
  const [name, prefix] = [textIn(header, 0, 100), isUstar ? textIn(header, 345, 155) : ""];
  // PostgreSQL writes some of its names from `./` on.
  const path = (prefix === "" ? name : `${prefix}/${name}`)
    .replace(/^\.\/(?=.)/, "")
    .replace(/\/$/, "");
  if (kind === null) throw new RangeError(`${path} is neither a file nor a folder`);
  const isInside =
    path !== "" &&
    !path.startsWith("/") &&
    path.split("/").every((part) => part !== "" && part !== ".." && part !== ".");
  if (!isInside) throw new RangeError(`${JSON.stringify(path)} leads out of its folder`);
  return {
    ...{ path, kind, sizeBytes: kind === "folder" ? 0 : numberIn(header, 124, 12) },
    mode: numberIn(header, 100, 8) & 0o7777,
    ...{ uid: numberIn(header, 108, 8), gid: numberIn(header, 116, 8) },
    mtimeS: numberIn(header, 136, 12),
  };
}

/** What is missing to the end of the last block. */
export function paddingOf(sizeBytes: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES);
}

function split(path: string): { prefix: string; name: string } {
  if (Buffer.byteLength(path) <= 100) return { prefix: "", name: path };
  for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (name !== "" && Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155)
      return { prefix, name };
  }
  throw new RangeError(`${path} is too long a path`);
}

function octal(value: number, digits: number): string {
  const text = value.toString(8);
  if (!Number.isSafeInteger(value) || value < 0 || text.length > digits)
    throw new RangeError(`${value} has no place in a header`);
  return `${text.padStart(digits, "0")}\0`;
}

/** The checksum's own place counts as blanks. */
function sumOf(header: Buffer): number {
  return header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

/** Octal digits; or, where the first bit is set, a number of base 256. @throws RangeError */
function numberIn(header: Buffer, at: number, length: number): number {
  const field = header.subarray(at, at + length);
  if ((field[0]! & 0x80) !== 0) {
    const value = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, field[0]! & 0x7f);
    if (Number.isSafeInteger(value)) return value;
  }
  const digits = textIn(header, at, length).trim();
  if (!/^[0-7]{0,12}$/.test(digits)) throw new RangeError("a header was changed");
  return digits === "" ? 0 : Number.parseInt(digits, 8);
}

function textIn(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end < 0 ? length : end);
}
