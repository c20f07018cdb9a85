/** C2SP signed-note and tlog-checkpoint, read from hostile bytes. */
import { base64, fromBase64, hex, textOf } from "./bytes.ts";

/** The input can't be what it says it is; nothing can be said about it. */
export class Refused extends Error {
  override readonly name = "Refused";
}

export const MAX_NOTE_BYTES = 65_536;
const MAX_SIGNATURES = 64;
const MAX_NAME_BYTES = 255;

export type Signature = { name: string /** Hex. */; keyId: string; bytes: Uint8Array };
export type Checkpoint = {
  origin: string;
  size: number;
  root: Uint8Array /** The three lines. */;
  text: string;
  signatures: Signature[];
};

/** @param what names it in a refusal. @throws {@link Refused} */
export function parseCheckpoint(bytes: Uint8Array, what: string): Checkpoint {
  const note = noteText(bytes, what);
  const split = note.lastIndexOf("\n\n");
  if (split === -1 || !note.endsWith("\n")) throw new Refused(`${what} is no signed note`);
  const text = note.slice(0, split + 1);
  const signatures = note.slice(split + 2, -1).split("\n");
  if (signatures.length > MAX_SIGNATURES) throw new Refused(`${what} has too many signatures`);
  return {
    ...parseHead(text, what),
    text,
    signatures: signatures.map((line) => parseSignature(line, what)),
  };
}

/** The three lines of a tree's head. @throws {@link Refused} */
export function parseHead(
  text: string,
  what: string,
): { origin: string; size: number; root: Uint8Array } {
  const lines = text.slice(0, -1).split("\n");
  const [origin = "", size = "", root = ""] = lines;
  if (lines.length !== 3 || !text.endsWith("\n"))
    throw new Refused(`${what} has not exactly three lines`);
  if (origin === "" || new TextEncoder().encode(origin).length > MAX_NAME_BYTES)
    throw new Refused(`${what} has an origin that is empty or too long`);
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(size) || !Number.isSafeInteger(Number(size)))
    throw new Refused(`${what} has a size that is no number`);
  const hash = fromBase64(root);
  if (hash?.length !== 32) throw new Refused(`${what} has a root that is no SHA-256`);
  return { origin, size: Number(size), root: hash };
}

function parseSignature(line: string, what: string): Signature {
  const [, name = "", encoded = ""] = /^— ([^\s+]+) (\S+)$/u.exec(line) ?? [];
  const bytes = fromBase64(encoded);
  if (name === "" || bytes === null || bytes.length < 5)
    throw new Refused(`${what} has a line that is no signature`);
  return { name, keyId: hex(bytes.subarray(0, 4)), bytes: bytes.subarray(4) };
}

/** UTF-8 without control characters but the line's end, within the limit. @throws {@link Refused} */
export function noteText(bytes: Uint8Array, what: string): string {
  if (bytes.length > MAX_NOTE_BYTES)
    throw new Refused(`${what} is longer than ${MAX_NOTE_BYTES} bytes`);
  const text = textOf(bytes);
  if (text === null) throw new Refused(`${what} is no UTF-8 text`);
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u0009\u000b-\u001f\u007f]/.test(text))
    throw new Refused(`${what} holds control characters`);
  return text;
}

export function headText({
  origin,
  size,
  root,
}: {
  origin: string;
  size: number;
  root: Uint8Array;
}): string {
  return `${origin}\n${size}\n${base64(root)}\n`;
}
