/** Which objects of a folder become files of a model, and by which names. Pure. */
import { ApiError } from "../../api-error.ts";

const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 512;

/**
 * Paths as they are, each one of a file that any file system can have beside the others.
 * @throws ApiError input_name_invalid
 */
export function checkModelFiles(paths: readonly string[]): void {
  const files = new Set(paths);
  for (const path of paths) {
    const segments = path.split("/");
    if (!segments.every(isFileName) || Buffer.byteLength(path) > MAX_PATH_BYTES)
      throw invalid(`the folder has an object ${JSON.stringify(path)}`);
    for (let end = segments.length - 1; end > 0; end--) {
      const above = segments.slice(0, end).join("/");
      if (files.has(above)) throw invalid(`${JSON.stringify(above)} is a file and a folder`);
    }
  }
}

function isFileName(name: string): boolean {
  const isBad = name === "" || name === "." || name === ".." || /[\p{Cc}\\;]/u.test(name);
  return !isBad && name.isWellFormed() && Buffer.byteLength(name) <= MAX_NAME_BYTES;
}

function invalid(message: string): ApiError {
  return new ApiError("input_name_invalid", message);
}
