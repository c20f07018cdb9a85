/** Bech32 (BIP 173) without its limit on length, as age uses it: text that a person copies by hand, with a checksum that finds slips of the pen. */

const ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const CHECKSUM_LENGTH = 6;
const LONGEST = 256;

/** In lower case. */
export function encodeBech32(prefix: string, bytes: Uint8Array): string {
  const values = regrouped(bytes, 8, 5, true) ?? [];
  const padded = [...expanded(prefix), ...values, 0, 0, 0, 0, 0, 0];
  const sum = checksumOf(padded) ^ 1;
  const checksum = Array.from({ length: CHECKSUM_LENGTH }, (_, at) => (sum >> (5 * (5 - at))) & 31);
  return `${prefix}1${[...values, ...checksum].map((value) => ALPHABET[value]).join("")}`;
}

/** Null for what is none: another prefix, mixed case, a letter that is not the alphabet's, a wrong checksum. */
export function decodeBech32(prefix: string, text: string): Buffer | null {
  if (text.length > LONGEST || (text !== text.toLowerCase() && text !== text.toUpperCase()))
    return null;
  const lower = text.toLowerCase();
  if (!lower.startsWith(`${prefix}1`)) return null;
  const values = Array.from(lower.slice(prefix.length + 1), (letter) => ALPHABET.indexOf(letter));
  if (values.length < CHECKSUM_LENGTH || values.includes(-1)) return null;
  if (checksumOf([...expanded(prefix), ...values]) !== 1) return null;
  const bytes = regrouped(values.slice(0, -CHECKSUM_LENGTH), 5, 8, false);
  return bytes === null ? null : Buffer.from(bytes);
}

function expanded(prefix: string): number[] {
  const codes = Array.from(prefix, (letter) => letter.charCodeAt(0));
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
}

function checksumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => {
    const top = sum >>> 25;
    const next = (((sum & 0x1ffffff) << 5) ^ value) >>> 0;
    return GENERATOR.reduce(
      (mixed, part, bit) => ((top >> bit) & 1 ? (mixed ^ part) >>> 0 : mixed),
      next,
    );
  }, 1);
}

/** Null where bits are left over that are not zero, or a whole group of them. */
function regrouped(
  values: ArrayLike<number>,
  from: number,
  to: number,
  pads: boolean,
): number[] | null {
  const groups: number[] = [];
  let [held, bits] = [0, 0];
  for (const value of Array.from(values)) {
    held = (held << from) | value;
    bits += from;
    while (bits >= to) {
      bits -= to;
      groups.push((held >> bits) & ((1 << to) - 1));
    }
    held &= (1 << bits) - 1;
  }
  if (!pads) return bits >= from || held !== 0 ? null : groups;
  if (bits > 0) groups.push((held << (to - bits)) & ((1 << to) - 1));
  return groups;
}
