/** Byte strings without any runtime's own type: the same code judges under Node and in a browser. */

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && isAt(a, 0, b);
}

/** Whether the part stands at this place of the whole. */
export function isAt(whole: Uint8Array, from: number, part: Uint8Array): boolean {
  if (from + part.length > whole.length) return false;
  for (let at = 0; at < part.length; at++) if (whole[from + at] !== part[at]) return false;
  return true;
}

const encoder = new TextEncoder();
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Decodes UTF-8; null for what is none. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** Arguments of one call, far below what any stack holds. */
const AT_ONCE = 4_096;
/** Each byte as the character of its number. */
export function latin1(bytes: Uint8Array): string {
  let text = "";
  // A character at a time leaves a string behind for each.
  for (let at = 0; at < bytes.length; at += AT_ONCE)
    text += String.fromCharCode(...bytes.subarray(at, at + AT_ONCE));
  return text;
}

/** Each character as the byte of its number. In memory of its own: a pooled buffer would keep the whole pool for as long as it is kept. */
export function fromLatin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

export function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

/** @param text lower case, of even length: callers have checked it */
export function fromHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, at) =>
    Number.parseInt(text.slice(2 * at, 2 * at + 2), 16),
  );
}

export function base64(bytes: Uint8Array): string {
  return btoa(latin1(bytes));
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Decodes a text. Null for what is not the one base64 of its bytes: padded, and without bits that say nothing. */
export function fromBase64(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return null;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const unused = padding === 2 ? 0b1111 : padding === 1 ? 0b11 : 0;
  if ((BASE64.indexOf(text.charAt(text.length - 1 - padding)) & unused) !== 0) return null;
  return fromLatin1(atob(text));
}

export function u64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

/** Reads eight bytes as a number, the highest first; null above 2^53 - 1. */
export function readU64(bytes: Uint8Array, at: number): number | null {
  const value = new DataView(bytes.buffer, bytes.byteOffset + at, 8).getBigUint64(0);
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : null;
}
