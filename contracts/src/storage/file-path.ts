/** Which paths any file system can have beside one another. Pure. */

/** As Linux has it. */
const MAX_NAME_BYTES = 255;

/** Whether one part of a path names a file or a folder. */
export function isFileName(name: string): boolean {
  const isBad = name === "" || name === "." || name === ".." || /[\p{Cc}\\]/u.test(name);
  return !isBad && name.isWellFormed() && utf8Bytes(name) <= MAX_NAME_BYTES;
}

/** Whether a path has nothing but names, and so many bytes at most. */
export function isFilePath(path: string, maxBytes: number): boolean {
  return path.split("/").every(isFileName) && utf8Bytes(path) <= maxBytes;
}

/** The file that would have to be a folder for this path to be; null where none is in the way. */
export function fileAbove(path: string, files: ReadonlySet<string>): string | null {
  const segments = path.split("/");
  for (let end = segments.length - 1; end > 0; end--) {
    const above = segments.slice(0, end).join("/");
    if (files.has(above)) return above;
  }
  return null;
}

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
