/** Where in an export each byte belongs: written from the format's description, not from our reader. */
const BLOCK = 512;

/** A stretch of the archive: the header of a member, its content or padding, an entry of a bundle, or the end. */
export type Stretch = {
  from: number;
  /** First byte behind it. */
  to: number;
  part: "header" | "checkpoint" | "entry length" | "entry" | "tile" | "padding" | "end";
  /** Empty for the end. */
  member: string;
  /** Of an entry. */
  index: number | null;
};

export function layoutOf(tar: Uint8Array): Stretch[] {
  const stretches: Stretch[] = [];
  const bytes = Buffer.from(tar.buffer, tar.byteOffset, tar.length);
  let at = 0;
  for (;;) {
    if (bytes[at] === 0) {
      stretches.push({ from: at, to: tar.length, part: "end", member: "", index: null });
      return stretches;
    }
    const member = bytes.toString("latin1", at, bytes.indexOf(0, at));
    const size = Number.parseInt(bytes.toString("latin1", at + 124, at + 135), 8);
    const content = at + BLOCK;
    const next = content + Math.ceil(size / BLOCK) * BLOCK;
    stretches.push({ from: at, to: content, part: "header", member, index: null });
    if (member.startsWith("tile/entries/")) stretches.push(...entriesOf(bytes, member, content, size));
    else
      stretches.push({
        from: content,
        to: content + size,
        part: member.startsWith("tile/") ? "tile" : "checkpoint",
        member,
        index: null,
      });
    if (next > content + size) stretches.push({ from: content + size, to: next, part: "padding", member, index: null });
    at = next;
  }
}

function entriesOf(bytes: Buffer, member: string, content: number, size: number): Stretch[] {
  const stretches: Stretch[] = [];
  const bundle = Number(
    member
      .replace(/^tile\/entries\//, "")
      .replace(/\.p\/.*$/, "")
      .replaceAll(/[x/]/g, ""),
  );
  for (let at = content, index = bundle * 256; at < content + size; index++) {
    const end = at + 2 + bytes.readUInt16BE(at);
    stretches.push({ from: at, to: at + 2, part: "entry length", member, index });
    stretches.push({ from: at + 2, to: end, part: "entry", member, index });
    at = end;
  }
  return stretches;
}
