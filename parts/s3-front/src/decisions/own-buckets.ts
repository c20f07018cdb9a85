/**
 * Answers about a user's own bucket. It belongs to the engine's admin, so the engine itself would list none and deny that it may be made; what it says of
 * the signature stands.
 */
import type { S3Request } from "./classify.ts";
import type { Principal } from "./principal.ts";
import { errorDocument, escapeXml, S3Refusal } from "./s3-error.ts";

type Revised = { status: number; code: string | null; document: string };

/** @param isProven whether the engine has found the signature to be the principal's. @returns null where the engine's answer stands */
export function aboutOwnBucket(
  { operation, bucket, prefix, accessKeyId }: S3Request,
  principal: Principal,
  isProven: boolean,
  { status, code }: { status: number; code: string | null },
): Revised | null {
  if (principal.kind !== "user" || principal.bucket === null || !isProven) return null;
  const own = principal.bucket;
  if (operation.name === "ListBuckets" && status === 200)
    return {
      status,
      code,
      document: listOf(own.name.startsWith(prefix) ? [own] : [], accessKeyId ?? ""),
    };
  if (operation.name !== "CreateBucket" || bucket !== own.name || code !== "AccessDenied")
    return null;
  const refusal = new S3Refusal("BucketAlreadyOwnedByYou", "this bucket is yours already");
  return {
    status: refusal.status,
    code: refusal.code,
    document: errorDocument(refusal, `/${own.name}`, "none"),
  };
}

function listOf(buckets: readonly { name: string; createdAt: number }[], owner: string): string {
  const listed = buckets.map(
    ({ name, createdAt }) =>
      `<Bucket><Name>${name}</Name><CreationDate>${new Date(createdAt).toISOString()}</CreationDate></Bucket>`,
  );
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<ListAllMyBucketsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">` +
    `<Owner><ID>${escapeXml(owner)}</ID></Owner><Buckets>${listed.join("")}</Buckets></ListAllMyBucketsResult>`
  );
}
