import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { temporaryRoot } from "../audit/auditd-instance.ts";
import { AuditdProcess } from "../audit/crash/auditd-process.ts";
import { Coordinator } from "../audit/crash/coordinator.ts";
import type { CrashKind } from "../audit/crash/crash-state.ts";
import { ImageTrials } from "../audit/crash/image-trials.ts";
import { diskIn, RecordedRun } from "../audit/crash/recorded-run.ts";
import type { Kill } from "../audit/crash/recorder.ts";
import { Rows } from "../audit/crash/rows.ts";
import { recordSecondLives } from "../audit/crash/runs.ts";
import type { Mark } from "../audit/crash/promises.ts";
import { recordTurns } from "../audit/crash/turns.ts";
import { type Life, recordInit, recordLife } from "../audit/crash/workload.ts";
import { seededRandom } from "../measure/seeded-random.ts";

const SEED = 11;
const DROPPED: CrashKind[] = ["unsynced dropped"];

function place(t: Test) {
  const root = temporaryRoot();
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const images = join(root, "images");
  mkdirSync(images);
  const random = seededRandom(SEED);
  return { root, random, rows: new Rows(random), trials: new ImageTrials(images, random) };
}

function record(folder: string, rows: Rows, brokenOff: readonly Kill[], lives: readonly Life[]): Promise<RecordedRun> {
  mkdirSync(folder);
  const auditd = new AuditdProcess(folder, diskIn(folder));
  return RecordedRun.record({
    folder,
    auditd,
    rows,
    kept: null,
    live: async (recorder) => {
      await recordInit(auditd, recorder, brokenOff);
      const coordinator = new Coordinator(auditd, rows, seededRandom(SEED), (acks) => recorder.mark({ acks } satisfies Mark));
      for (const life of lives) await recordLife(auditd, recorder, coordinator, life);
    },
  });
}

/** What the power cuts at these points broke, one line each. */
async function brokenAt(
  trials: ImageTrials,
  run: RecordedRun,
  points: readonly number[],
  leftOut: string | null,
): Promise<string[]> {
  return (await trials.run(run, points, leftOut, DROPPED)).flatMap(({ broken }) => broken);
}

const everyNth = (from: number, to: number, count: number): number[] =>
  Array.from({ length: count }, (_, n) => from + Math.round(((to - from) * n) / (count - 1)));

t.test("a ceremony that was broken off and repeated is durable once it says so", async (t) => {
  const { root, rows, trials } = place(t);
  // After the renames of key and policy, before their folders are synced.
  const run = await record(join(root, "log"), rows, [{ after: 7 }, { after: 8 }, { after: 14 }], []);
  t.same(await brokenAt(trials, run, [run.calls.length], null), []);
});

t.test("what a killed auditd had written and not synced is durable before the next one builds on it", async (t) => {
  const { root, rows, trials } = place(t);
  const run = await record(join(root, "log"), rows, [], [{ kill: { after: 150, atWriteTo: "/wal/" } }, { rows: 3 }]);
  const second = run.kinds.get("life")!.at(-1)!;
  t.same(await brokenAt(trials, run, everyNth(second + 1, run.calls.length, 6), null), []);
});

t.test("a folder of the tree that a killed auditd made is durable before a checkpoint builds on it", async (t) => {
  const { root, rows, trials } = place(t);
  const whole = await record(join(root, "whole"), new Rows(seededRandom(SEED)), [], [{ rows: 1 }]);
  const life = whole.kinds.get("life")!.at(-1)!;
  const made = whole.calls.findIndex((call) => call.op === "mkdir" && call.path.endsWith("/tile/entries/000.p"));
  const run = await record(join(root, "log"), rows, [], [{ kill: { after: made - life + 1 } }, { rows: 1 }]);
  t.same(await brokenAt(trials, run, [run.calls.length], null), []);
});

t.test("power that fails again while what it left is taken up breaks nothing", async (t) => {
  const { root, rows, random, trials } = place(t);
  const run = await record(join(root, "log"), rows, [], [{ rows: 60 }]);
  for await (const second of recordSecondLives(root, run, rows, 3, random))
    t.same(await brokenAt(trials, second, everyNth(20, second.calls.length, 4), null), []);
});

t.test("a shard that is prepared and turns breaks nothing; without the syncs of a turn it does, and it is noticed", async (t) => {
  const { root, rows, random, trials } = place(t);
  const run = await recordTurns(join(root, "log"), rows, random);
  const points = run.turns.flatMap(({ from, until }) => everyNth(from, until, 3));
  t.same(await brokenAt(trials, run, points, null), []);
  // Shortly after the first turn, its keys are destroyed and nothing has made up for the sync.
  for (const [call, what] of [
    ["name of current at a turn", /start refused: .*keys\/2026/],
    ["bytes of destroyed key at a turn", /key left/],
  ] as const)
    t.match(await brokenAt(trials, run, [run.turns[0]!.until], call), [what]);
});

t.test("without the sync of a batch acknowledgements are lost, and it is noticed", async (t) => {
  const { root, rows, trials } = place(t);
  const run = await record(join(root, "log"), rows, [], [{ rows: 40 }]);
  t.ok((await brokenAt(trials, run, everyNth(100, run.calls.length, 6), "bytes of WAL segment")).length > 0);
});
