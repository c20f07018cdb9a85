import { joinKey, SIGNATURE_PARAMETER } from "@resontech/audit/producer";
import { claimedAccessKey } from "./access-key.ts";
import { parseAddress } from "./address.ts";
import { type CopySource, parseCopySource } from "./copy-source.ts";
import { type DeclaredLength, declaredLength } from "./declared-length.ts";
import {
  findOperation,
  hasOnly,
  KEY_CALLS,
  type Operation,
  unservedParameter,
} from "./operations.ts";
import { checkFields } from "./request-fields.ts";
import { decisiveHeaders } from "./request-headers.ts";
import { type S3ErrorCode, S3Refusal } from "./s3-error.ts";
import { signedHeaders } from "./signed-headers.ts";

/** A request that the door has understood. */
export type S3Request = {
  operation: Operation;
  bucket: string | null;
  key: string | null;
  versionId: string | null;
  uploadId: string | null;
  partNumber: number | null;
  copySource: CopySource | null;
  /** Null without a signature. */
  accessKeyId: string | null;
  /** Lower-case names of the headers that the signature covers. */
  signedHeaders: ReadonlySet<string>;
  length: DeclaredLength;
  /** Of the signature in the query; null without one. */
  urlSha256: string | null;
  /** From when on a signature in the query is good, in milliseconds since 1970; null without one that says so. */
  signedAtMs: number | null;
  /** Of a listing. */
  prefix: string;
  /** Of the object that the body is, in hex, where the engine holds the body to it. */
  bodySha256: string | null;
};

/**
 * What a request asks for, from its request line and headers alone.
 * @param rawHeaders name, value, name, value … as they came
 * @throws S3Refusal NotImplemented for what is not in the table of operations or of their fields, InvalidArgument, and what the parsers of its
 * parts throw
 */
export function classify(method: string, target: string, rawHeaders: readonly string[]): S3Request {
  const headers = decisiveHeaders(rawHeaders);
  const source = headers.get("x-amz-copy-source");
  const range = headers.get("x-amz-copy-source-range");
  const keyCall = method === "PATCH" ? KEY_CALLS.get(target.split("?")[0] ?? "") : undefined;
  const { bucket, key, query } =
    keyCall === undefined ? parseAddress(target) : parseAddress(`/${target.replace(/^[^?]*/, "")}`);
  const level = key !== null ? "object" : bucket !== null ? "bucket" : "service";
  const operation =
    keyCall === undefined
      ? findOperation(method, level, query, source !== undefined)
      : hasOnly(query, keyCall.selectors)
        ? keyCall
        : null;
  if (operation === null) {
    const parameter = unservedParameter(method, level, query);
    throw new S3Refusal(
      "NotImplemented",
      parameter === null
        ? "this request is none that this object store serves"
        : `this object store does not serve the query parameter ${parameter.slice(0, 64)} there`,
    );
  }
  const signature = query.get(SIGNATURE_PARAMETER);
  const declared = headers.get("x-amz-content-sha256") ?? "";
  const isPart = operation.selectors.includes("partNumber");
  // Without a part the engine copies the whole object.
  if (range !== undefined && !(isPart && operation.copies))
    throw new S3Refusal("InvalidArgument", "x-amz-copy-source-range goes with a copied part alone");
  const asked: S3Request = {
    operation,
    bucket,
    key,
    versionId: idOf(query.get("versionId"), ["InvalidArgument", "the version id is not valid"]),
    uploadId: idOf(query.get("uploadId"), ["NoSuchUpload", "there is no upload of such an id"]),
    partNumber: isPart ? partNumberOf(query.get("partNumber") ?? "") : null,
    copySource: source === undefined ? null : parseCopySource(source, range),
    accessKeyId: claimedAccessKey(query, headers),
    signedHeaders: signedHeaders(query, headers),
    length: declaredLength(operation.body, query, headers),
    urlSha256: signature === undefined ? null : joinKey(signature),
    signedAtMs: timeOf(query.get("X-Amz-Date")),
    prefix: query.get("prefix") ?? "",
    bodySha256: signature === undefined && /^[0-9a-f]{64}$/.test(declared) ? declared : null,
  };
  checkFields(operation.name, query, rawHeaders);
  return asked;
}

/** What is no time, the engine refuses. */
function timeOf(text = ""): number | null {
  const [, date, hour, minute, second] = /^(\d{8})T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  if (date === undefined) return null;
  const day = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`;
  const ms = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(ms) ? null : ms;
}

/** The engine makes file names of these. */
function idOf(text: string | undefined, refusal: [S3ErrorCode, string]): string | null {
  if (text === undefined) return null;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(text)) throw new S3Refusal(...refusal);
  return text;
}

function partNumberOf(text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > 10_000)
    throw new S3Refusal("InvalidArgument", "the part number is not from 1 to 10,000");
  return number;
}
