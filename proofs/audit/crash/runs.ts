/** The runs that are recorded: one log from its ceremony through many lives, and the taking up of what power cuts left of it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { AuditdProcess } from "./auditd-process.ts";
import { Coordinator, MAX_BURST } from "./coordinator.ts";
import { crashState } from "./crash-state.ts";
import type { Ack, Mark } from "./promises.ts";
import { diskIn, RecordedRun } from "./recorded-run.ts";
import type { Kill } from "./recorder.ts";
import type { Rows } from "./rows.ts";
import { writeImage } from "./try-image.ts";
import { type Life, recordInit, recordLife } from "./workload.ts";

/** Records of a ceremony until the second key has its name; of one that finds keys and policy, until it names the shard. */
const RECORDS_TO_KEY = 15;
const RECORDS_TO_CURRENT = 28;
/** Each killed under load, with disclosures whose leaves are lost, twice while it takes up what it left, then stopped in good order. */
const LIVES_IN_A_ROUND = 5;
const ROWS_AFTER_A_CUT = 40;

export function recordLog(
  folder: string,
  rows: Rows,
  rounds: number,
  random: () => number,
): Promise<RecordedRun> {
  const between = (from: number, to: number): number => from + Math.floor(random() * (to - from));
  // At a rename: the next one finds a name that may not be durable.
  const brokenOff: Kill[] = [
    { after: between(2, RECORDS_TO_KEY) },
    { after: 0, atRenameTo: "ml-dsa-44.pem" },
    { after: 0, atRenameTo: "/audit.policy" },
    { after: between(2, RECORDS_TO_CURRENT) },
    { after: 0, atRenameTo: "/current" },
  ];
  const lives = Array.from({ length: rounds * LIVES_IN_A_ROUND }, (_, n): Life => {
    if (n % LIVES_IN_A_ROUND === LIVES_IN_A_ROUND - 1) return { rows: between(100, 500) };
    if (n % LIVES_IN_A_ROUND === 1) return { kill: { after: 0, atWriteTo: "/disclosures/" } };
    const after = n % LIVES_IN_A_ROUND === 0 ? between(300, 1_500) : between(5, 150);
    // Half of the lives under load end with a batch that is written and not synced.
    return { kill: after > 150 && random() < 0.5 ? { after, atWriteTo: "/wal/" } : { after } };
  });
  mkdirSync(folder);
  const auditd = new AuditdProcess(folder, diskIn(folder));
  return RecordedRun.record({
    folder,
    auditd,
    rows,
    kept: null,
    live: async (recorder) => {
      await recordInit(auditd, recorder, brokenOff);
      const coordinator = new Coordinator(auditd, rows, random, (acks) =>
        recorder.mark({ acks } satisfies Mark),
      );
      for (const life of lives) await recordLife(auditd, recorder, coordinator, life);
    },
  });
}

/** Power is cut while a batch is being written; what takes that up is recorded, so that power can be cut in the middle of it too. */
export async function* recordSecondLives(
  folder: string,
  run: RecordedRun,
  rows: Rows,
  count: number,
  random: () => number,
): AsyncGenerator<RecordedRun> {
  const writes = run.kinds.get("write WAL segment") ?? [];
  const points = Array.from(
    { length: count },
    () => writes[Math.floor(random() * writes.length)]! + 1,
  ).sort((a, b) => a - b);
  for (const { point, disk } of run.disksAt(points, null)) {
    const second = join(folder, `second-${point}-${Math.floor(random() * 1e9)}`);
    mkdirSync(second);
    writeImage(diskIn(second), crashState(disk, random() < 0.5 ? "torn" : "reordered", random));
    const kept = run.trialAt(point);
    const told = kept.acks.at(-1);
    // Rows are in a database before they are sent, so those under way are sent again.
    const rowsThen = rows.upTo((told?.pseq ?? 0) + 2 * MAX_BURST);
    const auditd = new AuditdProcess(second, diskIn(second));
    yield await RecordedRun.record({
      folder: second,
      auditd,
      rows: rowsThen,
      kept,
      live: async (recorder) => {
        const onAcks = (acks: readonly Ack[]): void => recorder.mark({ acks } satisfies Mark);
        const coordinator = new Coordinator(auditd, rowsThen, random, onAcks, told);
        await recordLife(auditd, recorder, coordinator, { rows: ROWS_AFTER_A_CUT });
      },
    });
  }
}
