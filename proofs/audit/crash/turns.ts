/** A log through turns of the year: each next shard is prepared in December and written from January on, through kills at either. */
import { mkdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Coordinator } from "./coordinator.ts";
import { DatedAuditd } from "./dated-auditd.ts";
import type { Mark } from "./promises.ts";
import { readPolicyKeys } from "./read-log.ts";
import { diskIn, RecordedRun } from "./recorded-run.ts";
import type { Kill, Recorder } from "./recorder.ts";
import type { Rows } from "./rows.ts";
import { recordInit, recordLife } from "./workload.ts";

const FIRST_YEAR = 2026;
const ROWS_IN_AUTUMN = 40;
const ROWS = 15;
const PREPARED_LIMIT_MS = 10_000;
const KILL_SEEN_LIMIT_MS = 5_000;

/** Where lives end while they prepare a turn, and at it. */
type Kills = { preparing: readonly Kill[]; turning: readonly Kill[] };

/** A turn that nothing disturbs; then steps that others build on, each ended before it is durable. */
const TURNS: readonly ((year: number, next: number) => Kills)[] = [
  () => ({ preparing: [], turning: [] }),
  (_year, next) => ({
    preparing: [{ after: 0, atRenameTo: `${next}.ml-dsa-44.pem` }],
    turning: [
      { after: 0, atWriteOf: '"audit.shard.close"' },
      { after: 0, atRenameTo: "/current" },
    ],
  }),
  (year, next) => ({
    preparing: [{ after: 0, atRenameTo: "/audit.policy" }],
    turning: [
      { after: 0, atRenameTo: `${next}/checkpoint` },
      { after: 0, atWriteTo: `/${next}/wal/` },
      { after: 0, atWriteTo: `/keys/${year}.ml-dsa-44.pem` },
    ],
  }),
];

/** Its ceremony is not broken off: what that leaves out nobody makes up for. */
export function recordTurns(
  folder: string,
  rows: Rows,
  random: () => number,
): Promise<RecordedRun> {
  mkdirSync(folder);
  const auditd = new DatedAuditd(folder, diskIn(folder), `${FIRST_YEAR}-10-05`);
  return RecordedRun.record({
    folder,
    auditd,
    rows,
    kept: null,
    live: async (recorder) => {
      const coordinator = new Coordinator(auditd, rows, random, (acks) =>
        recorder.mark({ acks } satisfies Mark),
      );
      await recordInit(auditd, recorder, []);
      await recordLife(auditd, recorder, coordinator, { rows: ROWS_IN_AUTUMN });
      for (const [turn, killsOf] of TURNS.entries()) {
        const year = FIRST_YEAR + turn;
        const { preparing, turning } = killsOf(year, year + 1);
        recorder.mark({ year, turn: "comes" } satisfies Mark);
        auditd.setDay(`${year}-12-20`);
        for (const kill of preparing) await recordLife(auditd, recorder, coordinator, { kill });
        await prepared(auditd, recorder, coordinator, year + 1);
        auditd.setNewYear(year + 1);
        await recordLife(auditd, recorder, coordinator, { rows: ROWS });
        recorder.mark({ year, turn: "begins" } satisfies Mark);
        for (const kill of [...turning, null]) await turned(auditd, recorder, coordinator, kill);
        recorder.mark({ year, turn: "ended" } satisfies Mark);
        await coordinator.write(ROWS, AbortSignal.timeout(KILL_SEEN_LIMIT_MS));
        await auditd.stop("SIGTERM");
      }
    },
  });
}

async function prepared(
  auditd: DatedAuditd,
  recorder: Recorder,
  coordinator: Coordinator,
  next: number,
): Promise<void> {
  await auditd.start(recorder.environment(null));
  const isListed = (): boolean =>
    readPolicyKeys(auditd.config.policyFile).some((key) => key.includes(`/${next}+`));
  for (
    const until = performance.now() + PREPARED_LIMIT_MS;
    !isListed() && performance.now() < until;
  )
    await sleep(10);
  await coordinator.write(ROWS, AbortSignal.timeout(PREPARED_LIMIT_MS));
  await auditd.stop("SIGTERM");
}

/** Rows are under way while the shard turns. */
async function turned(
  auditd: DatedAuditd,
  recorder: Recorder,
  coordinator: Coordinator,
  kill: Kill | null,
): Promise<void> {
  const ended = new AbortController();
  try {
    await auditd.start(recorder.environment(kill));
    auditd.ended().then(() => ended.abort());
    const done = await Promise.allSettled([coordinator.write(ROWS, ended.signal), auditd.vouch()]);
    for (const one of done) if (one.status === "rejected") throw one.reason;
  } catch (error) {
    if (kill === null || !(await auditd.hasEnded(KILL_SEEN_LIMIT_MS))) throw error;
  }
}
