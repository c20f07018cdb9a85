/** C2SP signed notes: a text, a blank line, and lines of signatures. */
import type { NoteKey } from "./note-key.ts";

export type SignatureLine = { name: string /** 4 bytes */; keyId: Buffer; signature: Buffer };
export type SignedNote = {
  /** With its last newline. */ text: string;
  signatures: SignatureLine[];
};

/** An ML-DSA-44 line has 3,300 bytes, and there may be many witnesses. */
export const MAX_NOTE_BYTES = 65_536;
/** Every verifier takes 16 (signed-note, "Format"); ours takes as many as this, for a policy may have 32 witnesses (tlog-policy, "Implementation limits"). */
export const MAX_SIGNATURES = 64;
const LINE = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/u;

/** Reads text and signatures; null for what is no signed note within the limits. */
export function parseNote(note: string): SignedNote | null {
  if (Buffer.byteLength(note) > MAX_NOTE_BYTES || !note.isWellFormed()) return null;
  // oxlint-disable-next-line no-control-regex -- control characters are what a note must not have
  if (/[\u0000-\u0009\u000b-\u001f]/.test(note)) return null;
  const blank = note.lastIndexOf("\n\n");
  if (blank === -1 || !note.endsWith("\n")) return null;
  const signatures = parseSignatureLines(note.slice(blank + 2));
  return signatures === null || signatures.length === 0
    ? null
    : { text: note.slice(0, blank + 1), signatures };
}

/** Lines as a witness answers them; null when one is none, or there are too many. */
export function parseSignatureLines(text: string): SignatureLine[] | null {
  if (text !== "" && !text.endsWith("\n")) return null;
  const lines = text.split("\n").slice(0, -1);
  if (lines.length > MAX_SIGNATURES) return null;
  const signatures: SignatureLine[] = [];
  for (const line of lines) {
    const [, name, encoded = ""] = LINE.exec(line) ?? [];
    const bytes = Buffer.from(encoded, "base64");
    if (name === undefined || bytes.length < 5 || bytes.toString("base64") !== encoded) return null;
    signatures.push({ name, keyId: bytes.subarray(0, 4), signature: bytes.subarray(4) });
  }
  return signatures;
}

export function formatSignatureLine({ name, keyId, signature }: SignatureLine): string {
  return `— ${name} ${Buffer.concat([keyId, signature]).toString("base64")}\n`;
}

export function formatNote({ text, signatures }: SignedNote): string {
  return `${text}\n${signatures.map(formatSignatureLine).join("")}`;
}

/** Name and id identify a key; its signature must then verify. */
export function isLineOf({ name, keyId }: SignatureLine, key: NoteKey): boolean {
  return name === key.name && keyId.equals(key.keyId);
}
