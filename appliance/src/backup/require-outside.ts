import { realpath, stat } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import { BackupError } from "@resontech/backup/backup-error";

/**
 * A folder of backups lies outside the appliance's own: whatever takes that away, an uninstall as well, would take the backups along. A file that
 * describes a bucket may lie anywhere.
 * @param root of the install
 * @throws BackupError `backup_target_inside`
 */
export async function requireOutside(root: string, path: string): Promise<void> {
  if ((await stat(path).catch(() => null))?.isFile() === true) return;
  const [own, target] = [await trueName(root), await trueName(path)];
  if (target === own || target.startsWith(`${own}${sep}`))
    throw new BackupError(
      "backup_target_inside",
      `${path} lies below ${root}, which an uninstall removes`,
    );
}

/** Resolves a path to its real one; what is not there yet, by the nearest folder that is. */
async function trueName(path: string): Promise<string> {
  const whole = resolve(path);
  try {
    return await realpath(whole);
  } catch {
    const above = dirname(whole);
    return above === whole
      ? whole
      : resolve(await trueName(above), whole.slice(above.length).replace(/^\/+/, ""));
  }
}
