/** Scheduled backups that are late. Pure. */
import { type Finding, warning } from "@resontech/frame/finding";
import type { BackupFacts } from "../../backup/read-backup-facts.ts";

export function backupFindings({ target, isOverdue, takenAtMs, failure }: BackupFacts): Finding[] {
  if (!isOverdue) return [];
  const last =
    takenAtMs === null ? "there is none" : `the last is of ${new Date(takenAtMs).toISOString()}`;
  return [
    warning(
      "backup_overdue",
      `no backup into ${target} was taken for twice the time of the schedule; ${last}${failure === null ? "" : `, and the newest try failed: ${failure}`}`,
      `look that ${target} is mounted and has room, then try one: appliance backup take ${target}`,
    ),
  ];
}
