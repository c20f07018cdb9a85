/** Where in an export each byte belongs: written from the format's description, not from our reader. */
const BLOCK = 512;

/** Of a signed checkpoint: its three lines with the empty one behind them, a line of the log's own, a line of a witness. */
type NotePart = "checkpoint head" | "log signature" | "cosignature";
/** Of disclosures, by line: a value that opens a commitment, or the mark of one that was erased. */
type DisclosurePart = "opened value" | "erasure mark";
export type TilePart = `tile level ${number} ${"full" | "partial"}`;
export type Part =
  | NotePart
  | `kept ${NotePart}`
  | DisclosurePart
  | TilePart
  | "header"
  | "entry length"
  | "entry"
  | "padding"
  | "end";

/** A stretch of the archive: the header of a member, a part of its content or padding, or the end. */
export type Stretch = {
  from: number;
  /** First byte behind it. */
  to: number;
  part: Part;
  /** Empty for the end. */
  member: string;
  /** Of an entry. */
  index: number | null;
};
type Member = { name: string; from: number; to: number };

export function layoutOf(tar: Uint8Array): Stretch[] {
  const stretches: Stretch[] = [];
  const bytes = Buffer.from(tar.buffer, tar.byteOffset, tar.length);
  let at = 0;
  for (;;) {
    if (bytes[at] === 0) {
      stretches.push({ from: at, to: tar.length, part: "end", member: "", index: null });
      return stretches;
    }
    const name = bytes.toString("latin1", at, bytes.indexOf(0, at));
    const size = Number.parseInt(bytes.toString("latin1", at + 124, at + 135), 8);
    const member = { name, from: at + BLOCK, to: at + BLOCK + size };
    const next = member.from + Math.ceil(size / BLOCK) * BLOCK;
    stretches.push({ from: at, to: member.from, part: "header", member: name, index: null });
    // One by one: a large export has more of them than a call takes arguments.
    for (const stretch of contentOf(bytes, member)) stretches.push(stretch);
    if (next > member.to)
      stretches.push({ from: member.to, to: next, part: "padding", member: name, index: null });
    at = next;
  }
}

/** Of an export's checkpoint, which stands behind the first header. */
export function headOf(tar: Uint8Array): { origin: string; size: number; root: Buffer } {
  const [origin = "", size = "", root = ""] = Buffer.from(tar.subarray(BLOCK, 4 * BLOCK))
    .toString("utf8")
    .split("\n");
  return { origin, size: Number(size), root: Buffer.from(root, "base64") };
}

function contentOf(bytes: Buffer, member: Member): Stretch[] {
  const { name, from, to } = member;
  if (name === "checkpoint") return noteOf(bytes, member, (part) => part);
  if (name.startsWith("checkpoints/")) return noteOf(bytes, member, (part) => `kept ${part}`);
  if (name.startsWith("disclosures/"))
    return linesOf(bytes, from, to).map((line) => ({
      ...line,
      part: disclosureOf(line.text),
      member: name,
      index: null,
    }));
  if (name.startsWith("tile/entries/")) return entriesOf(bytes, member);
  return [{ from, to, part: tileOf(name), member: name, index: null }];
}

/** C2SP signed-note. */
function noteOf(
  bytes: Buffer,
  { name, from, to }: Member,
  partOf: (part: NotePart) => Part,
): Stretch[] {
  const signaturesAt = bytes.indexOf("\n\n", from) + 2;
  const [origin] = bytes.toString("utf8", from, signaturesAt).split("\n");
  const lines = linesOf(bytes, signaturesAt, to).map((line) => ({
    ...line,
    part: partOf(line.text.startsWith(`— ${origin} `) ? "log signature" : "cosignature"),
  }));
  return [{ from, to: signaturesAt, part: partOf("checkpoint head") }, ...lines].map((stretch) => ({
    ...stretch,
    member: name,
    index: null,
  }));
}

function disclosureOf(line: string): DisclosurePart {
  return "erased" in (JSON.parse(line) as object) ? "erasure mark" : "opened value";
}

/** Each with its end. */
function linesOf(
  bytes: Buffer,
  from: number,
  to: number,
): { from: number; to: number; text: string }[] {
  const lines: { from: number; to: number; text: string }[] = [];
  for (let at = from; at < to; at = lines.at(-1)!.to) {
    const end = bytes.indexOf("\n", at) + 1;
    lines.push({ from: at, to: end, text: bytes.toString("utf8", at, end) });
  }
  return lines;
}

/** `tile/<L>/<N>[.p/<W>]`, tlog-tiles. */
function tileOf(name: string): TilePart {
  const [, level] = /^tile\/([0-9]+)\//.exec(name)!;
  return `tile level ${Number(level)} ${/\.p\/[0-9]+$/.test(name) ? "partial" : "full"}`;
}

function entriesOf(bytes: Buffer, { name, from, to }: Member): Stretch[] {
  const stretches: Stretch[] = [];
  const bundle = Number(
    name
      .replace(/^tile\/entries\//, "")
      .replace(/\.p\/.*$/, "")
      .replaceAll(/[x/]/g, ""),
  );
  for (let at = from, index = bundle * 256; at < to; index++) {
    const end = at + 2 + bytes.readUInt16BE(at);
    stretches.push({ from: at, to: at + 2, part: "entry length", member: name, index });
    stretches.push({ from: at + 2, to: end, part: "entry", member: name, index });
    at = end;
  }
  return stretches;
}
