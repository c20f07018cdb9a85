/** Where objects of a command's folders lie in its container. Pure. */
import { fileAbove, isFilePath } from "@resontech/contracts/file-path";
import { ApiError } from "../../api-error.ts";

const MAX_PATH_BYTES = 1_000;

export type FolderOfInputs = {
  /** Key without slashes at the ends. */ key: string /** Relative to it. */;
  paths: readonly string[];
};

/**
 * A target for each object, folder by folder in the order given: `payload/<last part of the folder>/<path>`.
 * @throws ApiError input_name_invalid for what is no path of a file, or one beneath another file
 */
export function inputTargets(folders: readonly FolderOfInputs[]): string[][] {
  const roots = new Map<string, string>();
  for (const { key } of folders) {
    const root = key.slice(key.lastIndexOf("/") + 1);
    const other = roots.get(root);
    if (other !== undefined)
      throw invalid(`/${key} and /${other} would both be the folder ${root}`);
    roots.set(root, key);
  }
  return folders.map(({ key, paths }) => {
    const files = new Set(paths);
    return paths.map((path) => {
      if (!isFilePath(path, MAX_PATH_BYTES))
        throw invalid(`/${key} has an object ${JSON.stringify(path)}`);
      const above = fileAbove(path, files);
      if (above !== null) throw invalid(`/${key}/${above} is a file and a folder`);
      return `payload/${key.slice(key.lastIndexOf("/") + 1)}/${path}`;
    });
  });
}

function invalid(message: string): ApiError {
  return new ApiError("input_name_invalid", message);
}
