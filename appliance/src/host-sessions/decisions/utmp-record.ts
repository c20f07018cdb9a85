/**
 * Login records of glibc, as utmp(5) has them, in their layout on x86-64: 384 bytes, little-endian; a string that fills its field has no
 * null byte. Whoever may write the file may write anything, so nothing in a record is trusted to be text, a process or a time.
 */
export const UTMP_BYTES = 384;

/** `ut_type`: those that say something of sessions. */
export const UTMP_TYPE = { bootTime: 2, userProcess: 7, deadProcess: 8 } as const;

export type UtmpRecord = {
  type: number;
  /** 0 where the record names none. */
  pid: number;
  line: string | null;
  user: string | null;
  /** As the program that wrote it saw fit: a name, an address, a display. */
  host: string | null;
  address: string | null;
  /** Milliseconds since 1970; null where the record has no time. */
  atMs: number | null;
};

const MAPPED_IPV4 = Buffer.from("00000000000000000000ffff", "hex");

/** @param bytes {@link UTMP_BYTES} of them */
export function readUtmp(bytes: Buffer): UtmpRecord {
  return {
    type: bytes.readInt16LE(0),
    pid: Math.max(0, bytes.readInt32LE(4)),
    line: textOf(bytes.subarray(8, 40)),
    user: textOf(bytes.subarray(44, 76)),
    host: textOf(bytes.subarray(76, 332)),
    address: addressOf(bytes.subarray(348, 364)),
    atMs: timeOf(bytes.readUInt32LE(340), bytes.readInt32LE(344)),
  };
}

/** What is no UTF-8 is told by its bytes, `hex:ff00`: a colon stands in no name of a user. */
function textOf(field: Buffer): string | null {
  const end = field.indexOf(0);
  const bytes = end === -1 ? field : field.subarray(0, end);
  if (bytes.length === 0) return null;
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? text : `hex:${bytes.toString("hex")}`;
}

/** An IPv4 address stands alone in the first four bytes; of IPv6 the short form of RFC 5952. */
function addressOf(bytes: Buffer): string | null {
  if (bytes.every((byte) => byte === 0)) return null;
  if (bytes.subarray(4).every((byte) => byte === 0)) return bytes.subarray(0, 4).join(".");
  if (bytes.subarray(0, 12).equals(MAPPED_IPV4)) return bytes.subarray(12).join(".");
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16));
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

/** Answers milliseconds since 1970; null for what has ended, whose time init(1) clears. Without sign the seconds reach to 2106. */
function timeOf(seconds: number, microseconds: number): number | null {
  if (seconds === 0) return null;
  return (
    seconds * 1_000 +
    (microseconds >= 0 && microseconds < 1_000_000 ? Math.floor(microseconds / 1_000) : 0)
  );
}
