/**
 * Files and folders with an owner. Root never works inside a folder that somebody else may write: what lies there could be a link to
 * anything. Where it must look into one, it follows no link.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
} from "node:fs";
import { replaceFileNow } from "@resontech/frame/durable-file-now";

export type Owner = { uid: number; gid: number };
export const ROOT: Owner = { uid: 0, gid: 0 };

/** Root's folder or file that one group may also read. */
export function readableBy(gid: number): Owner {
  return { uid: 0, gid };
}

/** Works as {@link replaceFileNow} does, for a file whose owner is said. */
export function writeOwned(
  file: string,
  bytes: string | Uint8Array,
  owner: Owner,
  mode: number,
): void {
  replaceFileNow(file, bytes, mode, owner);
}

/** Makes the folder if need be and sets owner and mode either way. @throws when something else is there */
export function ensureFolder(folder: string, owner: Owner, mode: number): void {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined)
    mkdirSync(folder, { recursive: true });
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is no folder`);
  chownSync(folder, owner.uid, owner.gid);
  chmodSync(folder, mode);
}

/** Reads a small file that another user wrote. @throws when it is a link, no regular file, or longer than `maxBytes` */
export function readForeign(file: string, maxBytes: number): Buffer {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = fstatSync(fd);
    if (!fstatSync(fd).isFile() || size > maxBytes)
      throw new Error(`${file} is no file of at most ${maxBytes} bytes`);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}
