import { FolderTarget } from "./folder-target.ts";
import type { Target } from "./target.ts";

/** @param name an absolute path of a folder @throws BackupError `backup_target` */
export async function openTarget(name: string): Promise<Target> {
  return await FolderTarget.open(name);
}
