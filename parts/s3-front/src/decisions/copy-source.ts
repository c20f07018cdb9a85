import { checkKey, decode, isBucketName } from "./address.ts";
import { S3Refusal } from "./s3-error.ts";

export type CopySource = {
  bucket: string;
  key: string;
  versionId: string | null;
  /** Bytes of the range that is copied; null for the whole object. */
  rangeBytes: number | null;
};

/** As the engine counts them, and the one that it gives to what was there before versions. */
const VERSION = /^(?:[0-7][0-9A-HJKMNP-TV-Z]{25}|null)$/;

/**
 * Reads `x-amz-copy-source`: `[/]bucket/key[?versionId=ID]`, escaped. As the engine does, it cuts the version off at the question mark that
 * is not escaped, and decodes the rest as a form before that is split: an escaped question mark belongs to the key. Bytes above 0x7e must
 * be escaped: Node reads them as Latin-1, the engine as UTF-8.
 * @throws S3Refusal for what the engine might read differently
 */
export function parseCopySource(source: string, range: string | undefined): CopySource {
  if (!/^[\x20-\x7e]*$/.test(source))
    throw new S3Refusal("InvalidArgument", "x-amz-copy-source is not escaped");
  const [rawPath = "", rawVersion, ...more] = source.replace(/^\//, "").split("?");
  const path = decode(rawPath.replaceAll("+", " "));
  const version = rawVersion === undefined ? null : /^versionId=(.*)$/.exec(rawVersion)?.[1];
  const slashAt = path.indexOf("/");
  const bucket = path.slice(0, Math.max(0, slashAt));
  if (more.length > 0 || version === undefined || !isBucketName(bucket))
    throw new S3Refusal("InvalidArgument", "x-amz-copy-source is not valid");
  if (version !== null && !VERSION.test(version))
    throw new S3Refusal("InvalidArgument", "the version id of x-amz-copy-source is not valid");
  const key = path.slice(slashAt + 1);
  checkKey(key);
  return {
    bucket,
    key,
    versionId: version,
    rangeBytes: range === undefined ? null : bytesOf(range),
  };
}

function bytesOf(range: string): number {
  const [, first, last] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(range) ?? [];
  const bytes = Number(last) - Number(first) + 1;
  if (!Number.isSafeInteger(bytes) || bytes < 1)
    throw new S3Refusal("InvalidArgument", "x-amz-copy-source-range is not valid");
  return bytes;
}
