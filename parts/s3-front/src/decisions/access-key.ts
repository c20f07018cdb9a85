import { isQuerySigned } from "./operations.ts";
import { type S3ErrorCode, S3Refusal } from "./s3-error.ts";

const ACCESS_KEY = /^[A-Za-z0-9._~-]{1,128}$/;

/**
 * The access key that the request claims to be signed with; null for a request without a signature. Whether the claim is true, the engine
 * says: until it has let the request in, the name is a claim.
 * @throws S3Refusal InvalidArgument for two signatures (the engine reads the query's) or a kind that nobody knows; InvalidRequest for a signature of
 * version 2; AuthorizationHeaderMalformed, AuthorizationQueryParametersError for one that names no key
 */
export function claimedAccessKey(
  query: ReadonlyMap<string, string>,
  headers: ReadonlyMap<string, string>,
): string | null {
  const authorization = headers.get("authorization");
  if (!isQuerySigned(query)) {
    if (authorization === undefined) return null;
    checkKind(authorization);
    return keyOf(
      /^AWS4-HMAC-SHA256\s[^\r\n]*?\bCredential=([^/,\s]+)\//.exec(authorization)?.[1],
      "AuthorizationHeaderMalformed",
    );
  }
  if (authorization !== undefined)
    throw new S3Refusal("InvalidArgument", "the request is signed in its query and in a header");
  return keyOf(query.get("X-Amz-Credential")?.split("/")[0], "AuthorizationQueryParametersError");
}

function checkKind(authorization: string): void {
  if (/^AWS4-HMAC-SHA256\s/.test(authorization)) return;
  if (/^AWS\s/.test(authorization))
    throw new S3Refusal("InvalidRequest", "sign with AWS4-HMAC-SHA256: version 2 is not served");
  throw new S3Refusal("InvalidArgument", "sign with AWS4-HMAC-SHA256: no other way is served");
}

function keyOf(text: string | undefined, code: S3ErrorCode): string {
  if (text === undefined || !ACCESS_KEY.test(text))
    throw new S3Refusal(code, "the signature names no access key");
  return text;
}
