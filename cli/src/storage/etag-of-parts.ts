import { createHash } from "node:crypto";

/** Makes an ETag as S3 does for an object that came in parts: MD5 of their MD5s, and their number. @param etags hex, in order */
export function etagOfParts(etags: readonly string[]): string {
  const hash = createHash("md5");
  for (const etag of etags) hash.update(Buffer.from(etag, "hex"));
  return `${hash.digest("hex")}-${etags.length}`;
}
