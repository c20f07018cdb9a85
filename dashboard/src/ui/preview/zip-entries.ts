/** The directory of a zip (APPNOTE 6.3.10), and where an entry's bytes begin. Pure. */
export type ZippedEntry = {
  name: string;
  sizeBytes: number;
  compressedBytes: number;
  /** Of its local header. */
  offset: number;
  isDeflated: boolean;
};
type ZipEnd = { offset: number; bytes: number };

/** The end of the directory stands within so many bytes of the file's end: a comment has 64 KiB at most. */
export const END_BYTES = 65_536 + 22 + 20;
export const LOCAL_BYTES = 30;
const [END, END64, ENTRY, LOCAL] = [0x06054b50, 0x06064b50, 0x02014b50, 0x04034b50];
const NOT_HERE = 0xffffffff;

/** Where the directory is. @param tail the end of the file @param fileBytes of the whole file. Null: it is no zip, or one whose far end isn't here */
export function zipEnd(tail: Uint8Array, fileBytes: number): ZipEnd | null {
  const view = viewOf(tail);
  for (let at = tail.length - 22; at >= 0; at--) {
    if (view.getUint32(at, true) !== END) continue;
    const [bytes, offset] = [view.getUint32(at + 12, true), view.getUint32(at + 16, true)];
    if (bytes !== NOT_HERE && offset !== NOT_HERE) return { offset, bytes };
    // PyTorch writes every checkpoint so: the larger record stands before, and its locator says where.
    const far =
      at < 20 ? -1 : Number(view.getBigUint64(at - 20 + 8, true)) - (fileBytes - tail.length);
    if (far < 0 || far + 56 > tail.length || view.getUint32(far, true) !== END64) return null;
    return {
      bytes: Number(view.getBigUint64(far + 40, true)),
      offset: Number(view.getBigUint64(far + 48, true)),
    };
  }
  return null;
}

export function zipEntries(directory: Uint8Array): ZippedEntry[] {
  const view = viewOf(directory);
  const entries: ZippedEntry[] = [];
  for (let at = 0; at + 46 <= directory.length && view.getUint32(at, true) === ENTRY; ) {
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((by) =>
      view.getUint16(at + by, true),
    ) as [number, number, number];
    const name = new TextDecoder().decode(directory.subarray(at + 46, at + 46 + nameBytes));
    const extra = directory.subarray(at + 46 + nameBytes, at + 46 + nameBytes + extraBytes);
    const [sizeBytes, compressedBytes, offset] = largeValues(
      [view.getUint32(at + 24, true), view.getUint32(at + 20, true), view.getUint32(at + 42, true)],
      extra,
    );
    const isDeflated = view.getUint16(at + 10, true) === 8;
    entries.push({ name, sizeBytes, compressedBytes, offset, isDeflated });
    at += 46 + nameBytes + extraBytes + commentBytes;
  }
  return entries;
}

/** Bytes from the beginning of a local header to those of the file. Null where no header is. */
export function localHeaderBytes(header: Uint8Array): number | null {
  const view = viewOf(header);
  if (header.length < LOCAL_BYTES || view.getUint32(0, true) !== LOCAL) return null;
  return LOCAL_BYTES + view.getUint16(26, true) + view.getUint16(28, true);
}

/** Values that do not fit stand in the extra field 1, in this order. */
function largeValues(
  values: [number, number, number],
  extra: Uint8Array,
): [number, number, number] {
  const view = viewOf(extra);
  for (let at = 0; at + 4 <= extra.length; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== 1) continue;
    let next = at + 4;
    return values.map((value) => {
      if (value !== NOT_HERE || next + 8 > extra.length) return value;
      next += 8;
      return Number(view.getBigUint64(next - 8, true));
    }) as [number, number, number];
  }
  return values;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
