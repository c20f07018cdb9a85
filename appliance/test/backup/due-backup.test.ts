import t from "tap";
import {
  type BackupState,
  isBackupDue,
  isBackupOverdue,
  parseEvery,
} from "../../src/backup/decisions/due-backup.ts";

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 10, 27);
const SCHEDULE = { target: "/mnt/backup", everyMinutes: 60, keep: 24 };
const state = (change: Partial<BackupState> = {}): BackupState => ({
  ...{ begunAtMs: null, taken: null, failed: null },
  ...change,
});
const ago = (minutes: number): number => NOW - minutes * MINUTE;

t.test("a backup is due at once, then by the beginning of the last", async (t) => {
  t.ok(isBackupDue(SCHEDULE, state(), NOW));
  const taken = { id: "a", atMs: ago(40) };
  t.notOk(isBackupDue(SCHEDULE, state({ begunAtMs: ago(59), taken }), NOW));
  t.ok(isBackupDue(SCHEDULE, state({ begunAtMs: ago(60), taken }), NOW));
  t.ok(isBackupDue(SCHEDULE, state({ begunAtMs: ago(-5), taken }), NOW), "a clock that was set");
});

t.test("one that failed is tried again after five minutes", async (t) => {
  const failed = { code: "backup_target", atMs: ago(4) };
  t.notOk(isBackupDue(SCHEDULE, state({ begunAtMs: ago(4), failed }), NOW));
  t.ok(isBackupDue(SCHEDULE, state({ begunAtMs: ago(5), failed }), NOW));
  const later = state({ begunAtMs: ago(5), failed, taken: { id: "a", atMs: ago(3) } });
  t.notOk(isBackupDue(SCHEDULE, later, NOW), "unless one was taken since");
});

t.test("twice the time without a whole one is too long", async (t) => {
  const since = ago(10_000);
  t.ok(isBackupOverdue(SCHEDULE, state(), since, NOW));
  t.notOk(isBackupOverdue(SCHEDULE, state(), ago(100), NOW), "the schedule is young");
  const at = (minutes: number) => state({ taken: { id: "a", atMs: ago(minutes) } });
  t.notOk(isBackupOverdue(SCHEDULE, at(120), since, NOW));
  t.ok(isBackupOverdue(SCHEDULE, at(121), since, NOW));
});

t.test("a span is a number of minutes, hours or days within its bounds", async (t) => {
  t.same(["5m", "90m", "1h", "7d"].map(parseEvery), [5, 90, 60, 10_080]);
  for (const wrong of ["4m", "8d", "1", "h", "0h", "1.5h", "-1h", "1w", ""])
    t.equal(parseEvery(wrong), null, wrong);
});
