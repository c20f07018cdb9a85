/** The content of a file that follows a database: pages, each after its number; then what was said of them; then how long that is. */
import { createHash, type Hash } from "node:crypto";
import type { Changes, WholeDatabase } from "./followed-database.ts";
import { sealStatement, type Stated } from "./followed-statement.ts";

export const NUMBER_BYTES = 4;

export type Told = Omit<Stated, "pageBytes" | "pages" | "sha256">;

/** @returns the bytes, and the name by which the next changes call these */
export function changesContent(
  { pageBytes, pages, changed }: Changes,
  told: Told,
  signingKeyPem: string,
): { bytes: Buffer; link: string } {
  const parts: Buffer[] = [];
  for (const [page, bytes] of changed) if (page <= pages) parts.push(numbered(page), bytes);
  const body = Buffer.concat(parts);
  const sha256 = createHash("sha256").update(body).digest("hex");
  const stated = sealStatement({ ...told, pageBytes, pages, sha256 }, signingKeyPem);
  return { bytes: Buffer.concat([body, ending(stated.bytes)]), link: stated.link };
}

export async function* wholeContent(
  whole: WholeDatabase,
  told: Told,
  signingKeyPem: string,
): AsyncGenerator<Buffer> {
  const { pageBytes, pages } = whole;
  const hash: Hash = createHash("sha256");
  for (const { first, bytes } of whole.read()) {
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += pageBytes)
      parts.push(numbered(first + at / pageBytes), bytes.subarray(at, at + pageBytes));
    const run = Buffer.concat(parts);
    hash.update(run);
    yield run;
  }
  const sha256 = hash.digest("hex");
  yield ending(sealStatement({ ...told, pageBytes, pages, sha256 }, signingKeyPem).bytes);
}

function numbered(page: number): Buffer {
  const bytes = Buffer.alloc(NUMBER_BYTES);
  bytes.writeUInt32BE(page);
  return bytes;
}

function ending(statement: Buffer): Buffer {
  const length = Buffer.alloc(NUMBER_BYTES);
  length.writeUInt32BE(statement.length);
  return Buffer.concat([statement, length]);
}
