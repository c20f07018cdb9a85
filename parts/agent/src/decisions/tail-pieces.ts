/** Of a live tail in one message: text of so many bytes has at most as many characters. */
const PIECE_BYTES = 64 * 1024;

export type TailPiece = { offset: number; bytes: number; text: string };

/**
 * Bytes of a log as texts, none cut within a character. What no UTF-8 is becomes replacement characters. The beginning of a character at the
 * very end is left for when the rest of it was printed.
 */
export function tailPieces(log: Buffer): TailPiece[] {
  const pieces: TailPiece[] = [];
  for (let offset = 0; offset < log.length; ) {
    const end = wholeUpTo(log, Math.min(log.length, offset + PIECE_BYTES));
    if (end <= offset) break;
    pieces.push({ offset, bytes: end - offset, text: log.toString("utf8", offset, end) });
    offset = end;
  }
  return pieces;
}

/** `end`, or where the character begins that goes on beyond it. */
function wholeUpTo(log: Buffer, end: number): number {
  for (let back = 1; back <= 3 && back <= end; back++) {
    const byte = log[end - back]!;
    if (byte < 0x80) return end;
    if (byte >= 0xc0) return lengthBy(byte) > back ? end - back : end;
  }
  return end;
}

function lengthBy(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}
