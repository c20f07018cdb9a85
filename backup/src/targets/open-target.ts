import { stat } from "node:fs/promises";
import { readBucketFile } from "./bucket-file.ts";
import { BucketTarget } from "./bucket-target.ts";
import { FolderTarget } from "./folder-target.ts";
import type { Target } from "./target.ts";

/**
 * @param path of a folder, or of a file that describes a bucket
 * @throws BackupError `backup_target`
 */
export async function openTarget(path: string): Promise<Target> {
  const found = await stat(path).catch(() => null);
  return found?.isFile() === true
    ? new BucketTarget(await readBucketFile(path))
    : await FolderTarget.open(path);
}
