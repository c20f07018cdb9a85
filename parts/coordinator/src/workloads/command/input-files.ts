/** Where objects of a command's folders lie in its container. Pure. */
import { ApiError } from "../../api-error.ts";

/** As Linux has it. */
const MAX_NAME_BYTES = 255;
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
      const segments = path.split("/");
      if (!segments.every(isFileName) || Buffer.byteLength(path) > MAX_PATH_BYTES)
        throw invalid(`/${key} has an object ${JSON.stringify(path)}`);
      for (let end = segments.length - 1; end > 0; end--) {
        const above = segments.slice(0, end).join("/");
        if (files.has(above)) throw invalid(`/${key}/${above} is a file and a folder`);
      }
      return `payload/${key.slice(key.lastIndexOf("/") + 1)}/${path}`;
    });
  });
}

function isFileName(name: string): boolean {
  return (
    name !== "" &&
    name !== "." &&
    name !== ".." &&
    !/[\p{Cc}\\]/u.test(name) &&
    name.isWellFormed() &&
    Buffer.byteLength(name) <= MAX_NAME_BYTES
  );
}

function invalid(message: string): ApiError {
  return new ApiError("input_name_invalid", message);
}
