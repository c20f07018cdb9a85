/**
 * What two producers that do not trust one another say of one thing, so that a verifier can pair their records: who issued a URL or
 * opened an upload, and who saw it used. Both are random enough to stand in clear as plain digests.
 */
import { createHash } from "node:crypto";

/** `X-Amz-Signature` of a presigned URL (SigV4). */
export const SIGNATURE_PARAMETER = "X-Amz-Signature";

/** `url_sha256`: SHA-256 of the URL's signature as its query has it. @throws TypeError for a URL that is not signed */
export function urlSha256(url: string): string {
  const signature = new URL(url).searchParams.get(SIGNATURE_PARAMETER);
  if (signature === null) throw new TypeError("the URL carries no signature");
  return joinKey(signature);
}

/** SHA-256 of a signature, or of the id of a multipart upload (`upload_sha256`). */
export function joinKey(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
