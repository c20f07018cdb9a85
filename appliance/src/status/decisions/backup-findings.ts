/** Scheduled backups that are late. Pure. */
import { type Finding, warning } from "@resontech/frame/finding";
import type { BackupFacts } from "../../backup/read-backup-facts.ts";

/** A second is usual. */
const BEHIND_S = 10;

export function backupFindings(facts: BackupFacts): Finding[] {
  return [...overdueFindings(facts), ...behindFindings(facts)];
}

function behindFindings({ target, followed }: BackupFacts): Finding[] {
  if (followed === null || followed.behindS <= BEHIND_S) return [];
  const why = followed.failure === null ? "" : ` (${followed.failure})`;
  return [
    warning(
      "backup_behind",
      `what was done in the last ${followed.behindS} s is not on ${target} yet${why}: it would be lost with this host`,
      `look that ${target} is mounted, has room and is fast enough: appliance logs follower`,
    ),
  ];
}

function overdueFindings({ target, isOverdue, takenAtMs, failure }: BackupFacts): Finding[] {
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
