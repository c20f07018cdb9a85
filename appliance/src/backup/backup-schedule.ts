/** `etc/backup-schedule.json`: which backups the supervisor takes by itself. No secret is in it. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { removeFileNow } from "@resontech/frame/durable-file-now";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { ConfigInvalidError } from "../config/load-config.ts";
import { ROOT, writeOwned } from "../config/owned-file.ts";
import type { Layout } from "@resontech/frame/layout";
import { type BackupSchedule, type BackupState, EVERY_MINUTES } from "./decisions/due-backup.ts";

const scheduleForm = Compile(
  Type.Object(
    {
      target: Type.String({ pattern: "^/" }),
      everyMinutes: Type.Integer({ minimum: EVERY_MINUTES.least, maximum: EVERY_MINUTES.most }),
      keep: Type.Integer({ minimum: 1 }),
    },
    { additionalProperties: false },
  ),
);
const Instant = Type.Integer({ minimum: 0 });
const stateForm = Compile(
  Type.Object({
    begunAtMs: Type.Union([Instant, Type.Null()]),
    taken: Type.Union([Type.Object({ id: Type.String(), atMs: Instant }), Type.Null()]),
    failed: Type.Union([Type.Object({ code: Type.String(), atMs: Instant }), Type.Null()]),
  }),
);
const NOTHING: BackupState = { begunAtMs: null, taken: null, failed: null };

/** Reads the schedule that is set; null where none is. @throws ConfigInvalidError */
export function readBackupSchedule(layout: Layout): (BackupSchedule & { setAtMs: number }) | null {
  const file = layout.backupScheduleFile;
  if (!existsSync(file)) return null;
  const schedule = parsed(file);
  if (scheduleForm.Check(schedule)) return { ...schedule, setAtMs: statSync(file).mtimeMs };
  throw new ConfigInvalidError(`${file} is no schedule of backups`);
}

/** Writes the schedule; null removes the one that was set. */
export function writeBackupSchedule(layout: Layout, schedule: BackupSchedule | null): void {
  const file = layout.backupScheduleFile;
  if (schedule === null) removeFileNow(file);
  else writeOwned(file, `${JSON.stringify(schedule, null, 2)}\n`, ROOT, 0o644);
}

/** What is damaged counts as nothing: the next backup is due. */
export function readBackupState(layout: Layout): BackupState {
  const state = parsed(stateFile(layout));
  return stateForm.Check(state) ? state : NOTHING;
}

/** @param change what of it is new */
export function noteBackup(layout: Layout, change: Partial<BackupState>): void {
  const state = { ...readBackupState(layout), ...change };
  writeOwned(stateFile(layout), `${JSON.stringify(state)}\n`, ROOT, 0o600);
}

/** Answers the file that lies beside what the last backup knew of the objects. */
function stateFile(layout: Layout): string {
  return layout.data("backup", "state.json");
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null;
  }
}
