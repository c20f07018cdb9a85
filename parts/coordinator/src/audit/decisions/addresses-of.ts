/** A range of addresses, address by address: each is looked up by itself. Pure. */
import { SearchRefused } from "./search-refused.ts";

const MAX_ADDRESSES = 256;

/** `10.0.0.0/28` becomes sixteen values. @throws SearchRefused */
export function addressesOf(value: string): string[] {
  const range = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/.exec(value);
  if (range === null) {
    if (/^[0-9a-fA-F:.]+$/.test(value) && value.includes(":")) return [value];
    throw new SearchRefused(
      `holds src.addr=${value} is no address: write 10.0.0.7, a range like 10.0.0.0/24, or an IPv6 address`,
    );
  }
  const octets = range.slice(1, 5).map(Number);
  const bits = Number(range[5] ?? 32);
  if (octets.some((octet) => octet > 255) || bits > 32)
    throw new SearchRefused(
      `holds src.addr=${value} is no address: each part is 0 to 255, the length 0 to 32`,
    );
  const count = 2 ** (32 - bits);
  if (count > MAX_ADDRESSES)
    throw new SearchRefused(
      `${value} has ${count} addresses: search a range of at most ${MAX_ADDRESSES}, like 10.0.0.0/24`,
    );
  const number = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  const first = number - (number % count);
  return Array.from({ length: count }, (_, index) => dotted(first + index));
}

function dotted(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
}
