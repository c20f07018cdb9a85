/** Who gets how much of a limited room: small ones all that they need, and the rest is shared by the large. Pure. */

/** @param needs bytes that each would fill @param room bytes for all @returns bytes for each, in the same order */
export function shareRoom(needs: readonly number[], room: number): number[] {
  const shares = needs.map(() => 0);
  let left = Math.max(0, room);
  const ascending = needs
    .map((need, index) => ({ need, index }))
    .toSorted((a, b) => a.need - b.need);
  for (const [at, { need, index }] of ascending.entries()) {
    const share = Math.min(need, Math.floor(left / (ascending.length - at)));
    shares[index] = share;
    left -= share;
  }
  return shares;
}

/** The newest whole lines of a text that fit into so many bytes. @returns how many older lines were left out */
export function newestLines(text: string, maxBytes: number): { text: string; left: number } {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return { text, left: 0 };
  const from = bytes.length - maxBytes;
  const next = bytes[from - 1] === 0x0a ? from : bytes.indexOf(0x0a, from) + 1;
  const cut = from > 0 && next === 0 ? bytes.length : next;
  return { text: bytes.subarray(cut).toString(), left: countLines(bytes.subarray(0, cut)) };
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) lines += 1;
  return lines;
}
