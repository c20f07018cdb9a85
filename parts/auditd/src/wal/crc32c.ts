/**
 * CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), as in RFC 3720 appendix B.4; eight bytes a step, by tables of what a byte does from
 * each place of eight.
 */
const TABLES = tables();

/** @param parts one after the other */
export function crc32c(...parts: readonly Uint8Array[]): number {
  let crc = 0xffffffff;
  for (const bytes of parts) crc = add(crc, bytes);
  return (crc ^ 0xffffffff) >>> 0;
}

function add(before: number, bytes: Uint8Array): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES;
  let crc = before;
  let at = 0;
  for (const end = bytes.length - 7; at < end; at += 8)
    crc =
      t7[(crc ^ bytes[at]!) & 0xff]! ^
      t6[((crc >>> 8) ^ bytes[at + 1]!) & 0xff]! ^
      t5[((crc >>> 16) ^ bytes[at + 2]!) & 0xff]! ^
      t4[(crc >>> 24) ^ bytes[at + 3]!]! ^
      t3[bytes[at + 4]!]! ^
      t2[bytes[at + 5]!]! ^
      t1[bytes[at + 6]!]! ^
      t0[bytes[at + 7]!]!;
  for (; at < bytes.length; at++) crc = t0[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8);
  return crc;
}

type Tables = [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

function tables(): Tables {
  const first = Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    return crc;
  });
  const all = [first];
  while (all.length < 8) all.push(all.at(-1)!.map((crc) => first[crc & 0xff]! ^ (crc >>> 8)));
  return all as Tables;
}
