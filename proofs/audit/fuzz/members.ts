/** An export's archive taken apart and put together: written from the format's description, not from our reader or writer. */
const BLOCK = 512;
const CHECKSUM_AT = 148;

export type Member = { header: Buffer; content: Buffer };

/** As far as the headers go; what follows the last of them is `rest`. */
export function takenApart(tar: Buffer): { members: Member[]; rest: Buffer } {
  const members: Member[] = [];
  let at = 0;
  while (at + BLOCK <= tar.length && tar[at] !== 0) {
    const header = Buffer.from(tar.subarray(at, at + BLOCK));
    const size = Number.parseInt(header.toString("latin1", 124, 135), 8);
    const next = at + BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    // A size that is none, or negative, leads nowhere.
    if (!(size >= 0 && next <= tar.length)) break;
    members.push({ header, content: Buffer.from(tar.subarray(at + BLOCK, at + BLOCK + size)) });
    at = next;
  }
  return { members, rest: tar.subarray(at) };
}

export function putTogether(
  members: readonly Member[],
  rest: Buffer = Buffer.alloc(2 * BLOCK),
): Buffer {
  const parts = members.flatMap(({ header, content }) => [
    header,
    content,
    Buffer.alloc(-content.length & (BLOCK - 1)),
  ]);
  return Buffer.concat([...parts, rest]);
}

export function nameOf({ header }: Member): string {
  const end = header.indexOf(0);
  return header.toString("latin1", 0, Math.min(end === -1 ? 100 : end, 100));
}

/** The entries of an export, as texts. */
export function leavesOf(bundle: Buffer): string[] {
  return takenApart(bundle)
    .members.filter((one) => nameOf(one).startsWith("tile/entries/"))
    .flatMap(({ content }) => {
      const leaves: string[] = [];
      for (let at = 0; at + 2 <= content.length; at += 2 + content.readUInt16BE(at))
        leaves.push(content.toString("utf8", at + 2, at + 2 + content.readUInt16BE(at)));
      return leaves;
    });
}

export function member(name: string, content: Buffer): Member {
  const header = Buffer.alloc(BLOCK);
  const fields: [at: number, text: string][] = [
    [0, name.slice(0, 100)],
    [100, "0000644"],
    [108, "0000000"],
    [116, "0000000"],
    [124, content.length.toString(8).padStart(11, "0")],
    [136, "00000000000"],
    [156, "0"],
    [257, "ustar"],
    [263, "00"],
  ];
  for (const [at, text] of fields) header.write(text, at, "latin1");
  fixChecksum(header);
  return { header, content };
}

/** The sum of the header's bytes, its own field counted as spaces. */
export function fixChecksum(header: Buffer): void {
  header.write("        ", CHECKSUM_AT, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, CHECKSUM_AT, "latin1");
}
