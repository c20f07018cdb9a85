/** Which objects of a folder become files of a model, and by which names. Pure. */
import { fileAbove, isFilePath } from "@resontech/contracts/file-path";
import { ApiError } from "../../api-error.ts";

const MAX_PATH_BYTES = 512;

/**
 * Paths as they are, each one of a file that any file system can have beside the others.
 * @throws ApiError input_name_invalid
 */
export function checkModelFiles(paths: readonly string[]): void {
  const files = new Set(paths);
  for (const path of paths) {
    if (!isFilePath(path, MAX_PATH_BYTES) || path.includes(";"))
      throw invalid(`the folder has an object ${JSON.stringify(path)}`);
    const above = fileAbove(path, files);
    if (above !== null) throw invalid(`${JSON.stringify(above)} is a file and a folder`);
  }
}

function invalid(message: string): ApiError {
  return new ApiError("input_name_invalid", message);
}
