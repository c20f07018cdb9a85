/** What a run did to its files, call by call, with the marks that its client set between them. The format is record-calls.c's. */

export type Call =
  | { op: "create"; path: string; inode: number; mode: number }
  | { op: "write"; inode: number; offset: number; bytes: Buffer }
  | { op: "truncate"; inode: number; length: number }
  /** What the file or folder holds now is durable once the `sync-end` of this token comes. */
  | { op: "sync-begin"; inode: number; token: number; isDataOnly: boolean }
  | { op: "sync-end"; token: number }
  | { op: "rename"; path: string; to: string }
  | { op: "link"; path: string; to: string }
  | { op: "unlink"; path: string }
  | { op: "mkdir"; path: string; inode: number; mode: number }
  | { op: "rmdir"; path: string }
  | { op: "chmod"; inode: number; mode: number }
  /** A process began to record. */
  | { op: "life" }
  /** The client had seen this before the next call. */
  | { op: "mark"; mark: unknown };

const HEADER_BYTES = 40;
const OPS = [
  null,
  "create",
  "write",
  "truncate",
  "sync-begin",
  "sync-end",
  "rename",
  "link",
  "unlink",
  "mkdir",
  "rmdir",
  "chmod",
  "life",
  "mark",
] as const;
const MARK = OPS.indexOf("mark");

/** A mark of the client, to be appended to the record in one write. */
export function encodeMark(mark: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(mark), "utf8");
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(HEADER_BYTES + text.length, 0);
  header.writeUInt8(MARK, 4);
  header.writeBigUInt64LE(BigInt(text.length), 32);
  return Buffer.concat([header, text]);
}

/** @throws for bytes that are no record */
export function* readRecording(bytes: Buffer): Generator<Call> {
  for (let at = 0; at < bytes.length; ) {
    const recordBytes = at + HEADER_BYTES > bytes.length ? 0 : bytes.readUInt32LE(at);
    if (recordBytes < HEADER_BYTES || at + recordBytes > bytes.length)
      throw new Error(`no record at byte ${at}`);
    yield callOf(bytes.subarray(at, at + recordBytes));
    at += recordBytes;
  }
}

function callOf(record: Buffer): Call {
  const op = OPS[record.readUInt8(4)];
  const pathEnd = HEADER_BYTES + record.readUInt16LE(6);
  const toEnd = pathEnd + record.readUInt16LE(8);
  const path = record.toString("utf8", HEADER_BYTES, pathEnd);
  const to = record.toString("utf8", pathEnd, toEnd);
  const mode = record.readUInt16LE(10);
  const token = record.readUInt32LE(12);
  const inode = Number(record.readBigUInt64LE(16));
  const offset = Number(record.readBigUInt64LE(24));
  const length = Number(record.readBigUInt64LE(32));
  switch (op) {
    case "create":
    case "mkdir":
      return { op, path, inode, mode };
    case "write":
      return {
        op,
        inode,
        offset,
        bytes: record.readUInt8(5) === 1 ? Buffer.alloc(length) : record.subarray(toEnd),
      };
    case "truncate":
      return { op, inode, length: offset };
    case "sync-begin":
      return { op, inode, token, isDataOnly: mode === 1 };
    case "sync-end":
      return { op, token };
    case "rename":
    case "link":
      return { op, path, to };
    case "unlink":
    case "rmdir":
      return { op, path };
    case "chmod":
      return { op, inode, mode };
    case "life":
      return { op };
    case "mark":
      return { op, mark: JSON.parse(record.toString("utf8", toEnd)) };
    default:
      throw new Error(`no call of kind ${record.readUInt8(4)}`);
  }
}
