import type { PolicyId } from "@resontech/contracts/policies";

/** What the front answers by itself, in S3's spelling of codes: clients branch on them. */
const S3_ERRORS = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  BucketAlreadyOwnedByYou: 409,
  EntityTooLarge: 400,
  ExportApprovalRequired: 403,
  IncompleteBody: 400,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidBucketName: 400,
  InvalidDigest: 400,
  InvalidRequest: 400,
  InvalidURI: 400,
  KeyTooLongError: 400,
  MalformedXML: 400,
  MissingContentLength: 411,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  NoSuchVersion: 404,
  NotImplemented: 501,
  QuotaExceeded: 403,
  RequestHeaderSectionTooLarge: 400,
  RequestTimeout: 400,
  ServiceUnavailable: 503,
} as const;
export type S3ErrorCode = keyof typeof S3_ERRORS;

/** A refusal of the front's own: nothing of the request has reached the engine. */
export class S3Refusal extends Error {
  override readonly name = "S3Refusal";
  readonly code: S3ErrorCode;
  readonly status: number;
  /** By which it was refused; null for a mistake, and for a key that nobody knows. */
  readonly policy: PolicyId | null;

  constructor(code: S3ErrorCode, message: string, policy: PolicyId | null = null) {
    super(message);
    this.policy = policy;
    this.code = code;
    this.status = S3_ERRORS[code];
  }
}

/** The document that S3 clients read. `resource` is the path as it was asked for. */
export function errorDocument(
  { code, message }: S3Refusal,
  resource: string,
  requestId: string,
): string {
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${escapeXml(message)}</Message>` +
    `<Resource>${escapeXml(resource)}</Resource><RequestId>${requestId}</RequestId></Error>`
  );
}

/** `Code` of the engine's error document, for the record; null when there is none. */
export function codeOfDocument(xml: string): string | null {
  return /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(xml)?.[1] ?? null;
}

export function escapeXml(text: string): string {
  return text
    .replace(/[<>&'"]|[^\t\n\r\x20-\uFFFD]/g, (char) => `&#${char.charCodeAt(0)};`)
    .replace(/&#(\d|1[0-9]|2[0-9]|3[01]);/g, "?");
}
