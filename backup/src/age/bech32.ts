/** Text that a person copies by hand, with a checksum that finds slips of the pen (BIP 173). */
import { bech32 } from "@scure/base";

/** Writes bytes in lower case. */
export function encodeBech32(prefix: string, bytes: Uint8Array): string {
  return bech32.encodeFromBytes(prefix, bytes);
}

/** Reads the bytes of a text. Null for what is none: another prefix, mixed case, a letter that is not the alphabet's, a wrong checksum. */
export function decodeBech32(prefix: string, text: string): Buffer | null {
  try {
    const decoded = bech32.decodeToBytes(text);
    return decoded.prefix === prefix ? Buffer.from(decoded.bytes) : null;
  } catch {
    return null;
  }
}
