/** Files of folders that other users write: no link is followed, and what is read is the file of that name. */
import { constants } from "node:fs";
import { type FileHandle, open, readlink } from "node:fs/promises";
import { BackupError } from "../backup-error.ts";

const READ_BYTES = 1_048_576;

/** @throws BackupError `backup_source` for a link, also on the way; an error of the file system where there is no such file */
export async function openHeld(file: string): Promise<FileHandle> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if ((await readlink(`/proc/self/fd/${handle.fd}`)) === file) return handle;
    throw new BackupError("backup_source", `${file} is reached by a link`);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Exactly the first `sizeBytes` of a file that may grow. @throws BackupError `backup_source_changes` where it is shorter */
export async function* readHeld(handle: FileHandle, sizeBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < sizeBytes; ) {
    const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, sizeBytes - at));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0)
      throw new BackupError("backup_source_changes", "a file became shorter while it was read");
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}
