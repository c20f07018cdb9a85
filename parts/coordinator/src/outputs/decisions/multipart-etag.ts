import { createHash } from "node:crypto";

const MD5_HEX = /^[0-9a-f]{32}$/;

/** The ETag that S3 gives an object completed from these parts: MD5 over their MD5s, and their number. Null for parts without MD5. */
export function multipartEtag(partEtags: readonly string[]): string | null {
  if (!partEtags.every((etag) => MD5_HEX.test(etag))) return null;
  const digest = createHash("md5");
  for (const etag of partEtags) digest.update(Buffer.from(etag, "hex"));
  return `${digest.digest("hex")}-${partEtags.length}`;
}
