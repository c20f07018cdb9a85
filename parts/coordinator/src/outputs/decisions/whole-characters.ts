/** UTF-8 out of the middle of a longer text, without the parts of characters at its ends. Pure. */

/** Of UTF-8: bytes of one character at most. */
const LONGEST = 4;

/**
 * @param isEnd nothing follows: a part of a character at the end is shown as what it is
 * @returns bytes left out at the beginning, the text, and where it ends in the bytes
 */
export function wholeCharacters(
  bytes: Buffer,
  isEnd: boolean,
): { skipped: number; text: string; used: number } {
  let skipped = 0;
  while (skipped < Math.min(LONGEST - 1, bytes.length) && isContinuation(bytes[skipped]!))
    skipped += 1;
  const used = isEnd ? bytes.length : endOfWhole(bytes);
  return { skipped, text: bytes.toString("utf8", skipped, used), used };
}

function endOfWhole(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(LONGEST, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (isContinuation(byte)) continue;
    return lengthOf(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function isContinuation(byte: number): boolean {
  return byte >> 6 === 0b10;
}

function lengthOf(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}
