/**
 * The closed table of what a request may ask besides its operation: S3's own fields (`x-amz-…`), conditions, ranges and digests. A field that
 * an operation grants does what S3 says of it; any other is answered 501 by its name. The engine would pass over it, and its client would
 * believe that the object is encrypted, or that a condition held.
 */
import { dateOf } from "./date-of.ts";
import { isQuerySigned, SIGNING } from "./operations.ts";
import { type S3ErrorCode, S3Refusal } from "./s3-error.ts";

/** Of which the whole family is closed. `x-minio-…` asks for what MinIO alone does. */
const FAMILIES = /^(?:x-amz-|x-minio-|if-)/;
const SINGLE = new Set(["range", "content-range", "content-md5"]);

const CHECKSUMS = [
  ...["crc32", "crc32c", "crc64nvme", "md5", "sha1", "sha256", "sha512"],
  ...["xxhash3", "xxhash64", "xxhash128"],
].map((algorithm) => `x-amz-checksum-${algorithm}`);
/** Of a body that the engine holds to them. */
const DIGESTS = ["content-md5", ...CHECKSUMS];
const STREAMED = [...DIGESTS, "x-amz-decoded-content-length", "x-amz-trailer"];
const CONDITIONS = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"];
const WRITE_CONDITIONS = ["if-match", "if-none-match"];
const SOURCE = ["x-amz-copy-source", ...CONDITIONS.map((name) => `x-amz-copy-source-${name}`)];
const METADATA = "x-amz-meta-*";
const BYPASS = "x-amz-bypass-governance-retention";
/** What is kept with an object. */
const KEPT = [
  METADATA,
  "x-amz-tagging",
  ...["mode", "retain-until-date", "legal-hold"].map((name) => `x-amz-object-lock-${name}`),
];

/** By operation; those that are not named here grant none. A star at the end stands for any rest. */
export const GRANTED_FIELDS: Readonly<Record<string, readonly string[]>> = {
  CreateBucket: [...DIGESTS, "x-amz-object-ownership", "x-amz-bucket-object-lock-enabled"],
  PutBucketPolicy: DIGESTS,
  PutBucketTagging: DIGESTS,
  PutBucketOwnershipControls: DIGESTS,
  PutBucketVersioning: DIGESTS,
  PutObjectLockConfiguration: DIGESTS,
  DeleteObjects: [...DIGESTS, BYPASS],
  GetObject: [...CONDITIONS, "range", "if-range", "x-amz-checksum-mode"],
  HeadObject: [...CONDITIONS, "range", "x-amz-checksum-mode"],
  GetObjectAttributes: ["x-amz-object-attributes"],
  PutObject: [...STREAMED, ...WRITE_CONDITIONS, ...KEPT],
  CopyObject: [
    ...SOURCE,
    ...WRITE_CONDITIONS,
    ...KEPT,
    ...["x-amz-metadata-directive", "x-amz-tagging-directive", "x-amz-checksum-algorithm"],
  ],
  DeleteObject: ["if-match", "x-amz-if-match-last-modified-time", "x-amz-if-match-size", BYPASS],
  CreateMultipartUpload: [...KEPT, "x-amz-checksum-algorithm", "x-amz-checksum-type"],
  UploadPart: STREAMED,
  UploadPartCopy: [...SOURCE, "x-amz-copy-source-range"],
  CompleteMultipartUpload: [
    ...DIGESTS,
    ...WRITE_CONDITIONS,
    ...["x-amz-checksum-type", "x-amz-mp-object-size"],
  ],
  AbortMultipartUpload: ["x-amz-if-match-initiated-time"],
  PutObjectTagging: DIGESTS,
  PutObjectRetention: [...DIGESTS, BYPASS],
  PutObjectLegalHold: DIGESTS,
};

/** Of the signature, in the headers; in the query it has other names. */
const OF_SIGNATURE = ["x-amz-date", "x-amz-content-sha256", "x-amz-security-token"];

/** Pass with every operation: they name the client, or ask for nothing. */
export const HARMLESS_FIELDS: readonly string[] = [
  "x-amz-user-agent",
  // What the SDK for C++ says with every request.
  "x-amz-api-version",
  // The SDK for Java offers to read a trailer, as `TE` does.
  "x-amz-te",
  // Names the algorithm of a checksum that comes in a field of its own.
  "x-amz-sdk-checksum-algorithm",
  // Nobody pays for requests here.
  "x-amz-request-payer",
  // What answers say of an object; `s3cmd modify` sends it back.
  ...["x-amz-tagging-count", "x-amz-mp-parts-count", "x-amz-restore"],
];

/** What is so in any case: the one class of storage, and a bucket that its owner alone has rights in. */
export const HARMLESS_VALUES: Readonly<Record<string, readonly string[]>> = {
  "x-amz-acl": ["private", "bucket-owner-full-control"],
  "x-amz-storage-class": ["STANDARD"],
};

/** Besides checksums: fields of which S3 says that the request is at fault. */
const OF_REQUEST = new Set(["x-amz-mp-object-size", "x-amz-object-attributes"]);

/** Parts of a field that is granted: the engine names no parts among the attributes. */
const UNSERVED_VALUES: Readonly<Record<string, RegExp>> = {
  "x-amz-object-attributes": /\bObjectParts\b/i,
};

/** Checksums of no bytes: what SDKs put into a URL that they sign before there is a body. S3 passes over them as well. */
const OF_NOTHING: Readonly<Record<string, string>> = {
  "x-amz-checksum-crc32": "AAAAAA==",
  "x-amz-checksum-crc32c": "AAAAAA==",
  "x-amz-checksum-crc64nvme": "AAAAAAAAAAA=",
  "x-amz-checksum-sha1": "2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
  "x-amz-checksum-sha256": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
};

const isSize = (value: string): boolean => /^\d{1,15}$/.test(value);
const isPast = (value: string): boolean =>
  (dateOf(value) ?? Number.POSITIVE_INFINITY) <= Date.now();
/** The engine passes over a value that it can't read, and with it over the field. */
const FORMS: Readonly<Record<string, (value: string) => boolean>> = {
  ...Object.fromEntries(
    ["if-modified-since", "if-unmodified-since"].flatMap((name) => [
      [name, (value: string) => dateOf(value) !== null],
      [`x-amz-copy-source-${name}`, (value: string) => dateOf(value) !== null],
    ]),
  ),
  "x-amz-if-match-last-modified-time": isPast,
  "x-amz-if-match-initiated-time": isPast,
  "x-amz-if-match-size": isSize,
  "x-amz-mp-object-size": isSize,
  [BYPASS]: (value) => /^(?:true|false)$/i.test(value),
};

/** Of the fields that are granted: those that a header alone may hold, because they say what body comes or which operation it is. */
const isHeaderAlone = (name: string): boolean =>
  name.startsWith("x-amz-copy-source") ||
  ["x-amz-decoded-content-length", "x-amz-trailer", ...DIGESTS].includes(name);

/** Of query parameters: the engine takes any other value for none at all. */
const PARAMETERS: Readonly<Record<string, RegExp>> = {
  "encoding-type": /^(?:url)?$/,
  "list-type": /^2$/,
  "fetch-owner": /^(?:true|false)?$/i,
};

/**
 * @param raw headers: name, value, name, value … as they came
 * @throws S3Refusal NotImplemented for a field that the operation does not grant; InvalidArgument for one that is there twice, is empty, or
 * has a value that the engine can't read
 */
export function checkFields(
  operation: string,
  query: ReadonlyMap<string, string>,
  raw: readonly string[],
): void {
  const seen = new Set<string>();
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    if (!FAMILIES.test(name) && !SINGLE.has(name)) continue;
    if (!OF_SIGNATURE.includes(name)) checkField(operation, name, (raw[at + 1] ?? "").trim(), seen);
  }
  for (const [spelled, value] of query) {
    if (PARAMETERS[spelled]?.test(value) === false)
      throw invalid(
        `the query parameter ${spelled}`,
        "has a value that the object store can't read",
      );
    const name = spelled.toLowerCase();
    if (!name.startsWith("x-amz-") || SIGNING.has(spelled) || OF_NOTHING[name] === value) continue;
    // The engine reads the others there where the query is signed.
    if (isGranted(operation, name) && (isHeaderAlone(name) || !isQuerySigned(query)))
      throw new S3Refusal(
        "NotImplemented",
        `${name} is served as a header and not in the query: sign it as a header of the request`,
      );
    // It would read the header alone.
    if (seen.has(name)) throw invalid(name, "is given twice");
    checkField(operation, name, value, seen);
  }
}

/** @param seen names before it */
function checkField(operation: string, name: string, value: string, seen: Set<string>): void {
  if (isHarmless(name, value)) return;
  if (!isGranted(operation, name)) throw notGranted(operation, name, value);
  const unserved = UNSERVED_VALUES[name]?.exec(value);
  if (unserved) throw notGranted(operation, `${name}: ${unserved[0]}`, value);
  if (seen.has(name) && !isPutTogether(name)) throw invalid(name, "is given twice");
  seen.add(name);
  if (value === "" && !name.startsWith("x-amz-meta-") && name !== "x-amz-tagging")
    throw invalid(name, "is empty");
  if (FORMS[name]?.(value) === false)
    throw invalid(name, "has a value that the object store can't read");
}

/** Lines of one name say it all together, as S3 reads them: the SDK for Go sends a line for each attribute. */
function isPutTogether(name: string): boolean {
  return name.startsWith("x-amz-meta-") || name === "x-amz-object-attributes";
}

function isHarmless(name: string, value: string): boolean {
  return HARMLESS_FIELDS.includes(name) || HARMLESS_VALUES[name]?.includes(value) === true;
}

function isGranted(operation: string, name: string): boolean {
  return (
    GRANTED_FIELDS[operation]?.some(
      (field) =>
        field === name ||
        (field.endsWith("*") && name.startsWith(field.slice(0, field.length - 1))),
    ) === true
  );
}

function notGranted(operation: string, name: string, value: string): S3Refusal {
  const shown = HARMLESS_VALUES[name] === undefined ? name : `${name}: ${value.slice(0, 64)}`;
  return new S3Refusal(
    "NotImplemented",
    `this object store does not serve ${shown} with ${operation}: leave it out, as nothing would be done for it`,
  );
}

function invalid(name: string, what: string): S3Refusal {
  return new S3Refusal(codeOf(name), `${name} ${what}`);
}

/** Answers the code that S3 has for a value that is none. */
function codeOf(name: string): S3ErrorCode {
  if (name === "content-md5") return "InvalidDigest";
  return CHECKSUMS.includes(name) || OF_REQUEST.has(name) ? "InvalidRequest" : "InvalidArgument";
}
