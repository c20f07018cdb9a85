import {
  MAX_UPLOAD_PARTS,
  UPLOAD_PART_BYTES,
  UPLOAD_SLOWEST_BYTES_PER_S,
} from "@resontech/contracts/http-storage";
import { ApiError } from "../../api-error.ts";
import { PLATFORM_FOLDERS } from "./bucket-policy.ts";

const SHORTEST_LIFE_S = 15 * 60;
const LONGEST_LIFE_S = 7 * 24 * 3600;
/** The object store's own: an object below it, at any depth, would be in no listing. */
const ENGINE_FOLDER = ".sgwtmp";
const MAX_KEY_BYTES = 1024;
/** Of a name between two slashes: the engine keeps objects as files. */
const MAX_PART_BYTES = 255;

/** The client takes all URLs at the start and never renews them: they live as long as the slowest connection needs. */
export function planUpload(sizeBytes: number): { parts: number; expiresS: number } {
  const parts = Math.max(1, Math.ceil(sizeBytes / UPLOAD_PART_BYTES));
  if (parts > MAX_UPLOAD_PARTS)
    throw new ApiError("upload_too_large", `${sizeBytes} bytes are ${parts} parts of 50 MiB`);
  const needed = Math.ceil(sizeBytes / UPLOAD_SLOWEST_BYTES_PER_S);
  return { parts, expiresS: Math.min(LONGEST_LIFE_S, Math.max(SHORTEST_LIFE_S, needed)) };
}

/**
 * A key that a user may write through the API. The platform's folders are closed: an upload there is an output, and the
 * coordinator's own signature would pass the bucket's policy.
 * @throws ApiError upload_key_invalid, path_reserved
 */
export function checkUploadKey(key: string): void {
  if (!isObjectKey(key)) {
    throw new ApiError(
      "upload_key_invalid",
      "the key has an empty, `.`, `..`, `.sgwtmp` or unprintable part, one of over 255 bytes, or over 1,024 bytes in all",
    );
  }
  const reserved = key
    .split("/")
    .slice(0, -1)
    .find((segment) => PLATFORM_FOLDERS.some((folder) => folder === segment));
  if (reserved !== undefined) throw new ApiError("path_reserved", `the key lies in ${reserved}/`);
}

/** Whether an object can have this key. */
export function isObjectKey(key: string): boolean {
  const isBad = (segment: string) =>
    ["", ".", "..", ENGINE_FOLDER].includes(segment) ||
    /\p{Cc}/u.test(segment) ||
    Buffer.byteLength(segment) > MAX_PART_BYTES;
  return (
    !key.split("/").some(isBad) && key.isWellFormed() && Buffer.byteLength(key) <= MAX_KEY_BYTES
  );
}
