/** The schedule: a process of its own takes each backup, a failure is told and tried again, and the end of the supervisor ends it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import t, { type Test } from "tap";
import { noteBackup, writeBackupSchedule } from "../../src/backup/backup-schedule.ts";
import { readBackupFacts } from "../../src/backup/read-backup-facts.ts";
import { Layout } from "@resontech/frame/layout";
import { wholeLines } from "@resontech/house/whole-lines";
import { runBackups } from "../../src/backup/run-backups.ts";

const SCHEDULE = { target: "/mnt/backup", everyMinutes: 60, keep: 3 };

function house(t: Test): Layout {
  const layout = new Layout(t.testdir({ etc: {}, data: { backup: {} } }), "t1");
  mkdirSync(layout.data("backup"), { recursive: true });
  return layout;
}

/** Instead of the appliance's command: it says how it was called. */
const recorder = (layout: Layout, then: string): string[] => [
  ...["/bin/sh", "-c", `echo "$@" >> ${join(layout.root, "called")}; ${then}`, "sh"],
];

const calls = ({ root }: Layout): string[] => wholeLines(join(root, "called"));

async function until(holds: () => boolean): Promise<void> {
  for (const endsAt = Date.now() + 120_000; !holds(); await sleep(10))
    if (Date.now() > endsAt) throw new Error("it never came");
}

function running(layout: Layout, appliance: string[]): AsyncDisposable & { lines: string[] } {
  const [ended, lines] = [new AbortController(), [] as string[]];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const loop = runBackups({ layout, appliance, log, firstLookMs: 1, lookMs: 10 }, ended.signal);
  return {
    lines,
    [Symbol.asyncDispose]: async () => {
      ended.abort();
      await loop;
    },
  };
}

t.test("without a schedule nothing is taken; with one, what it says", async (t) => {
  const layout = house(t);
  await using loop = running(layout, recorder(layout, "exit 0"));
  await sleep(100);
  t.same(calls(layout), []);
  noteBackup(layout, { begunAtMs: Date.now() });
  writeBackupSchedule(layout, SCHEDULE);
  await sleep(100);
  t.same(calls(layout), [], "the last one is not old enough");
  noteBackup(layout, { begunAtMs: Date.now() - 61 * 60_000 });
  await until(() => calls(layout).length > 0);
  t.equal(calls(layout)[0], "backup take /mnt/backup --keep 3 --json");
  noteBackup(layout, { begunAtMs: Date.now() });
  writeBackupSchedule(layout, null);
  t.equal(readBackupFacts(layout, Date.now()), null);
  await until(() => loop.lines.some((line) => line.includes("a backup was taken")));
});

t.test(
  "a backup that fails is told with what it said, and a damaged schedule as well",
  async (t) => {
    const layout = house(t);
    writeBackupSchedule(layout, SCHEDULE);
    noteBackup(layout, { failed: { code: "backup_target", atMs: 1 } });
    await using loop = running(layout, recorder(layout, "echo no disk >&2; exit 1"));
    await until(() => loop.lines.some((line) => line.includes("no disk")));
    t.match(readBackupFacts(layout, Date.now() + 121 * 60_000), {
      ...{ isOverdue: true, failure: "backup_target", takenAtMs: null },
    });
    writeFileSync(join(layout.etc, "backup-schedule.json"), '{"target":"relative"}');
    await until(() => loop.lines.some((line) => line.includes("is no schedule of backups")));
  },
);

t.test("a backup that runs ends with the supervisor", async (t) => {
  const layout = house(t);
  writeBackupSchedule(layout, SCHEDULE);
  const itself = `sleep 60 && echo ended >> ${join(layout.root, "called")}`;
  {
    await using _loop = running(layout, recorder(layout, itself));
    await until(() => calls(layout).length > 0);
  }
  t.notOk(calls(layout).includes("ended"), "nobody waited for its end");
});
