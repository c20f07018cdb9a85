/** Paths of a submission as keys of the bucket, checked before the bucket is asked. Pure. */
import { ApiError } from "../../api-error.ts";
import { PLATFORM_FOLDERS } from "../../storage/decisions/bucket-policy.ts";

/**
 * The key of a folder or file below `/jobs/<name>/`, without slashes at the ends.
 * @param readable folders of the platform that may be named
 * @throws ApiError path_invalid, path_outside_jobs, path_reserved
 */
export function folderKey(field: string, path: string, readable: readonly string[] = []): string {
  if (!path.startsWith("/"))
    throw new ApiError("path_invalid", `${field} does not start with a slash`);
  const key = path.slice(1).replace(/\/$/, "");
  const segments = key.split("/");
  const isBad = (segment: string) =>
    segment === "" || segment === "." || segment === ".." || /[\p{Cc}\\]/u.test(segment);
  if (segments.some(isBad))
    throw new ApiError("path_invalid", `${field} has an empty, \`.\`, \`..\` or unprintable part`);
  if (!key.isWellFormed()) throw new ApiError("path_invalid", `${field} is not Unicode text`);
  if (segments[0] !== "jobs" || segments.length < 3)
    throw new ApiError("path_outside_jobs", `${field} is not a folder of /jobs/<name>/`);
  const reserved = segments.find(
    (segment) =>
      PLATFORM_FOLDERS.some((folder) => folder === segment) && !readable.includes(segment),
  );
  if (reserved !== undefined) throw new ApiError("path_reserved", `${field} lies in ${reserved}/`);
  return key;
}
