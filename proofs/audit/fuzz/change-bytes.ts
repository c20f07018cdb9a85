/** Changes of bytes that know nothing of what the bytes mean, and a few that know what readers stumble over. */
import type { Dice } from "./dice.ts";

export const NUMBERS = [
  ...[
    "0",
    "-0",
    "00",
    "-1",
    "1",
    "2",
    "255",
    "256",
    "257",
    "511",
    "512",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
  ],
  ...[
    "9007199254740991",
    "9007199254740992",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999",
  ],
  ...[
    "1.5",
    "1e308",
    "0x10",
    "+5",
    " 5",
    "٣",
    "NaN",
    "Infinity",
    "",
    "8640000000000001",
    "9".repeat(400),
  ],
];
const TOKENS = [
  ...[
    "\n",
    "\n\n",
    "\r\n",
    "\0",
    "\t",
    " ",
    "— ",
    "+",
    "=",
    ",",
    ":",
    "#",
    "quorum none\n",
    "none",
    "ustar",
    "L",
    "x",
  ],
  ...[
    '"',
    "{",
    "}",
    "[",
    "]",
    "\\",
    "\\u0000",
    "\\ud800",
    "null",
    "__proto__",
    "constructor",
    "toString",
    "valueOf",
  ],
  ...[
    "\ufeff",
    "\u202e",
    "\u2028",
    "\u0085",
    "\ud83d\ude00",
    "tile/",
    "checkpoints/",
    "disclosures/",
    "../",
    ".p/",
  ],
].map((text) => Buffer.from(text));
const RAW = [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x80]].map(
  (bytes) => Buffer.from(bytes),
);
const BYTES = [
  0x00, 0x01, 0x0a, 0x0d, 0x20, 0x22, 0x2b, 0x2d, 0x30, 0x39, 0x5c, 0x7b, 0x7f, 0x80, 0xff,
];
const MAX_COPIES = 64;
const MAX_LONG = 20_000;

/** @param others what ranges are taken from, besides the bytes themselves */
export function changeBytes(bytes: Buffer, dice: Dice, others: readonly Buffer[]): Buffer {
  return dice.weighted(CHANGES)(bytes, dice, others);
}

/** A number in the text becomes one that is not expected. */
export function changeNumber(bytes: Buffer, dice: Dice): Buffer {
  const from = dice.below(bytes.length);
  let start = bytes.subarray(from).findIndex(isDigit);
  if (start === -1) return bytes;
  start += from;
  let end = start;
  while (end < bytes.length && isDigit(bytes[end]!)) end += 1;
  return replaced(bytes, start, end, Buffer.from(dice.pick(NUMBERS)));
}

type Change = (bytes: Buffer, dice: Dice, others: readonly Buffer[]) => Buffer;

const CHANGES: readonly (readonly [number, Change])[] = [
  [
    6,
    (bytes, dice) => {
      const copy = Buffer.from(bytes);
      for (let left = dice.size(8); left >= 0 && copy.length > 0; left--)
        copy[dice.below(copy.length)]! ^= 1 << dice.below(8);
      return copy;
    },
  ],
  [
    4,
    (bytes, dice) => {
      const copy = Buffer.from(bytes);
      if (copy.length > 0) copy[dice.below(copy.length)] = dice.pick(BYTES);
      return copy;
    },
  ],
  [2, (bytes, dice) => bytes.subarray(0, dice.below(bytes.length))],
  [1, (bytes, dice) => bytes.subarray(dice.size(bytes.length))],
  [3, (bytes, dice) => within(bytes, dice, () => Buffer.alloc(0))],
  [
    3,
    (bytes, dice) => inserted(bytes, dice, dice.chance(0.2) ? dice.pick(RAW) : dice.pick(TOKENS)),
  ],
  [2, (bytes, dice) => inserted(bytes, dice, dice.bytes(dice.size(100)))],
  [
    2,
    (bytes, dice) =>
      within(bytes, dice, (range) =>
        Buffer.concat(Array.from({ length: 2 + dice.size(MAX_COPIES) }, () => range)),
      ),
  ],
  [1, (bytes, dice) => inserted(bytes, dice, Buffer.alloc(dice.size(MAX_LONG), dice.pick(BYTES)))],
  [3, (bytes, dice, others) => inserted(bytes, dice, rangeOf(dice.pick([bytes, ...others]), dice))],
  [
    3,
    (bytes, dice, others) => {
      const range = rangeOf(dice.pick([bytes, ...others]), dice);
      const at = dice.below(bytes.length);
      return replaced(bytes, at, Math.min(bytes.length, at + range.length), range);
    },
  ],
  [
    2,
    (bytes, dice, others) => {
      const other = dice.pick([bytes, ...others]);
      return Buffer.concat([
        bytes.subarray(0, dice.below(bytes.length)),
        other.subarray(dice.below(other.length)),
      ]);
    },
  ],
  [5, changeNumber],
];

function within(bytes: Buffer, dice: Dice, change: (range: Buffer) => Buffer): Buffer {
  const from = dice.below(bytes.length);
  const to = Math.min(bytes.length, from + dice.size(2_000));
  return replaced(bytes, from, to, change(bytes.subarray(from, to)));
}

function inserted(bytes: Buffer, dice: Dice, what: Buffer): Buffer {
  const at = dice.below(bytes.length + 1);
  return replaced(bytes, at, at, what);
}

function rangeOf(bytes: Buffer, dice: Dice): Buffer {
  const from = dice.below(bytes.length);
  return bytes.subarray(from, from + dice.size(4_000));
}

function replaced(bytes: Buffer, from: number, to: number, by: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, from), by, bytes.subarray(to)]);
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
