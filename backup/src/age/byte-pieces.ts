/** Bytes of a stream in pieces of one size; the last one may be shorter, and is empty only where there is nothing at all. */
export async function* pieces(
  source: AsyncIterable<Uint8Array>,
  sizeBytes: number,
): AsyncGenerator<{ bytes: Buffer; isLast: boolean }> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  for await (const chunk of source) {
    held.push(chunk);
    heldBytes += chunk.length;
    // One byte more is waited for: only then it is known that a piece is not the last.
    if (heldBytes <= sizeBytes) continue;
    const all = Buffer.concat(held);
    let at = 0;
    for (; all.length - at > sizeBytes; at += sizeBytes)
      yield { bytes: all.subarray(at, at + sizeBytes), isLast: false };
    held = [all.subarray(at)];
    heldBytes = all.length - at;
  }
  yield { bytes: Buffer.concat(held), isLast: true };
}
