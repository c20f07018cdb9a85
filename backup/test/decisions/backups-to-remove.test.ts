import t from "tap";
import {
  backupId,
  backupsToRemove,
  backupTimeMs,
  MAX_BACKUP_LIFE_MS,
} from "../../src/decisions/backups-to-remove.ts";

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 27, 10, 15);
const ids = (hours: number[]): string[] => hours.map((hour) => backupId(NOW - hour * HOUR));

t.test("the name of a backup says when it was taken", async (t) => {
  t.equal(backupId(NOW), "20261127T101500Z");
  t.equal(backupTimeMs("20261127T101500Z"), NOW);
  t.ok(Number.isNaN(backupTimeMs("20261327T101500Z")));
  t.ok(Number.isNaN(backupTimeMs("../../etc")));
});

t.test("the newest stay, and nothing outlives thirty days", async (t) => {
  const all = ids([3, 0, 2, 1]);
  t.same(backupsToRemove(all, 2, NOW), ids([2, 3]));
  t.same(backupsToRemove(all, 10, NOW), []);
  t.same(backupsToRemove(all, 0, NOW), ids([1, 2, 3]), "one always stays");
  const days = MAX_BACKUP_LIFE_MS / HOUR;
  t.same(backupsToRemove(ids([0, days, days + 1]), 10, NOW), ids([days + 1]));
});
