/**
 * Reads a request's target as the engine will: it decodes the whole path once and splits it at slashes (fiber's `DecodeURL`), and reads
 * the query as a form. What the two might read differently is refused, so that the record, the quota and the export switch always speak
 * of the object that the engine opens.
 */
import { S3Refusal } from "./s3-error.ts";

export type Address = {
  /** Null for the service itself. */
  bucket: string | null;
  /** Null for the bucket itself. */
  key: string | null;
  /** Decoded; each name at most once. */
  query: ReadonlyMap<string, string>;
};

/** RFC 3986: what a path may hold unescaped. `#`, `?`, `\`, blanks and bytes above 0x7e are no part of it. */
const PATH = /^\/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*$/;
const QUERY = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*$/;
/** As the engine's own check of names; `healthz` and `readyz` are the door's own. */
const BUCKET = /^(?!(?:healthz|readyz)$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const MAX_KEY_BYTES = 1024;
/** Each part of a key is a file's or a folder's name. */
const MAX_PART_BYTES = 255;
/** Where the engine keeps parts and unfinished objects inside each bucket. It leaves the name out of its listings at any depth, so of every count. */
const ENGINE_FOLDER = ".sgwtmp";

/**
 * @param target the request line's target, byte for byte
 * @throws S3Refusal InvalidURI, InvalidBucketName, KeyTooLongError, InvalidArgument
 */
export function parseAddress(target: string): Address {
  const questionAt = target.indexOf("?");
  const rawPath = questionAt < 0 ? target : target.slice(0, questionAt);
  const query = parseQuery(questionAt < 0 ? "" : target.slice(questionAt + 1));
  if (!PATH.test(rawPath)) throw new S3Refusal("InvalidURI", "the path is not a valid URI path");
  const path = decode(rawPath);
  if (path === "/") return { bucket: null, key: null, query };
  if (/\p{Cc}/u.test(path)) throw new S3Refusal("InvalidURI", "the path holds a control character");
  // A bucket's name needs no escape: one that holds a slash would be cut elsewhere by the engine than by the signature.
  const rawBucketEnd = rawPath.indexOf("/", 1);
  const rawBucket = rawBucketEnd < 0 ? rawPath.slice(1) : rawPath.slice(1, rawBucketEnd);
  if (rawBucket.includes("%"))
    throw new S3Refusal("InvalidBucketName", "the bucket's name is not valid");
  const key = rawBucketEnd < 0 ? "" : path.slice(rawBucketEnd + 1);
  if (!isBucketName(rawBucket))
    throw new S3Refusal("InvalidBucketName", "the bucket's name is not valid");
  if (key === "") return { bucket: rawBucket, key: null, query };
  checkKey(key);
  return { bucket: rawBucket, key, query };
}

export function isBucketName(text: string): boolean {
  return BUCKET.test(text);
}

/** @throws S3Refusal for a key that the engine's file system would take for another one */
export function checkKey(key: string): void {
  if (Buffer.byteLength(key) > MAX_KEY_BYTES)
    throw new S3Refusal("KeyTooLongError", "the key is longer than 1,024 bytes");
  if (/\p{Cc}/u.test(key)) throw new S3Refusal("InvalidURI", "the key holds a control character");
  const segments = key.split("/");
  // One slash at the end makes a folder's marker of its own.
  const named = segments.at(-1) === "" ? segments.slice(0, -1) : segments;
  if (
    named.length === 0 ||
    named.some((segment) => segment === "" || segment === "." || segment === "..")
  )
    throw new S3Refusal("InvalidURI", "the key has an empty, `.` or `..` part");
  if (named.some((segment) => Buffer.byteLength(segment) > MAX_PART_BYTES))
    throw new S3Refusal(
      "KeyTooLongError",
      "a part of the key between slashes is longer than 255 bytes",
    );
  if (named.includes(ENGINE_FOLDER))
    throw new S3Refusal("InvalidURI", "the key has a part of the object store's own name");
}

function parseQuery(raw: string): Map<string, string> {
  if (!QUERY.test(raw)) throw new S3Refusal("InvalidURI", "the query is not a valid URI query");
  const query = new Map<string, string>();
  for (const pair of raw.split("&")) {
    if (pair === "") continue;
    const equalsAt = pair.indexOf("=");
    const name = decodeForm(equalsAt < 0 ? pair : pair.slice(0, equalsAt));
    if (query.has(name)) throw new S3Refusal("InvalidArgument", "a query parameter is given twice");
    query.set(name, equalsAt < 0 ? "" : decodeForm(pair.slice(equalsAt + 1)));
  }
  return query;
}

function decodeForm(text: string): string {
  return decode(text.replaceAll("+", " "));
}

/** @throws S3Refusal InvalidURI for escapes that are no UTF-8 */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Refusal("InvalidURI", "an escape is not UTF-8");
  }
}
