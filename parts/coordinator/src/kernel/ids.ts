import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** `<prefix>-` and 80 random bits in Crockford's base 32, lower case: safe in file names, DNS labels and object keys. */
export function newId(prefix: string): string {
  let id = `${prefix}-`;
  for (const byte of randomBytes(16)) id += ALPHABET[byte & 31];
  return id;
}
