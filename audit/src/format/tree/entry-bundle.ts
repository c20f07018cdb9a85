/** Entries one after the other, each behind its length as big-endian uint16: the form of entry bundles and of WAL batches. */

export function encodeEntries(entries: readonly Buffer[]): Buffer {
  const bytes = Buffer.allocUnsafe(entries.reduce((sum, entry) => sum + 2 + entry.length, 0));
  let at = 0;
  for (const entry of entries) {
    at = bytes.writeUInt16BE(entry.length, at);
    at += entry.copy(bytes, at);
  }
  return bytes;
}

/** The entries, or null when the bytes do not divide into entries. */
export function decodeEntries(bytes: Buffer): Buffer[] | null {
  const entries: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + 2 > bytes.length) return null;
    const end = at + 2 + bytes.readUInt16BE(at);
    if (end > bytes.length) return null;
    entries.push(bytes.subarray(at + 2, end));
    at = end;
  }
  return entries;
}
