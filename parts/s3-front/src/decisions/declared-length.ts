import { isQuerySigned } from "./operations.ts";
import { S3Refusal } from "./s3-error.ts";

/** The engine's largest single body (5 GiB), and room for the frames of an aws-chunked one. */
const MAX_OBJECT_BODY_BYTES = 5 * 1024 ** 3 + 64 * 1024 ** 2;
/** Of policies, tag sets, lists of parts and of deletions: 10,000 parts fit. */
export const MAX_DOCUMENT_BYTES = 4 * 1024 ** 2;

/** `bodyBytes` come over the wire, null where the body says by itself when it ends; `storedBytes` are what the engine will keep of them. */
export type DeclaredLength = { bodyBytes: number | null; storedBytes: number };

/**
 * How much the request says that it brings. The quota counts `storedBytes`, so they are taken from `x-amz-decoded-content-length` only where
 * the engine itself holds the body to it: in an aws-chunked body that is signed in a header. Such a body may come in a chunked transfer
 * (boto3 sends it so over TLS); no other may.
 * @throws S3Refusal MissingContentLength, EntityTooLarge, IncompleteBody, InvalidRequest
 */
export function declaredLength(
  body: "object" | "document" | "none",
  query: ReadonlyMap<string, string>,
  headers: ReadonlyMap<string, string>,
): DeclaredLength {
  const length = headers.get("content-length");
  const decoded = headers.get("x-amz-decoded-content-length");
  const isHeldToIt =
    (headers.get("x-amz-content-sha256") ?? "").startsWith("STREAMING-") && !isQuerySigned(query);
  const transfer = headers.get("transfer-encoding");
  const isStream =
    transfer?.toLowerCase() === "chunked" &&
    body === "object" &&
    isHeldToIt &&
    decoded !== undefined;
  if (
    (transfer !== undefined && !isStream) ||
    (length === undefined && body === "object" && !isStream)
  )
    throw new S3Refusal("MissingContentLength", "give the length of the body in Content-Length");
  const bodyBytes = isStream ? null : length === undefined ? 0 : count(length, "Content-Length");
  const storedBytes =
    decoded === undefined ? (bodyBytes ?? 0) : count(decoded, "x-amz-decoded-content-length");
  const limit = body === "object" ? MAX_OBJECT_BODY_BYTES : MAX_DOCUMENT_BYTES;
  if ((bodyBytes ?? storedBytes) > limit)
    throw new S3Refusal("EntityTooLarge", `the body is longer than ${limit} bytes`);
  if (body === "none" && bodyBytes !== 0)
    throw new S3Refusal("InvalidRequest", "this operation takes no body");
  if (bodyBytes !== null && storedBytes !== bodyBytes && (!isHeldToIt || storedBytes > bodyBytes))
    throw new S3Refusal("IncompleteBody", "x-amz-decoded-content-length does not fit the body");
  return { bodyBytes, storedBytes };
}

function count(text: string, name: string): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value))
    throw new S3Refusal("MissingContentLength", `${name} is no length`);
  return value;
}
