/**
 * Power cuts at chosen places of recorded runs: the defects that such cuts found once, each by name. A case answers what it found wrong, one
 * line each; nothing is right.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { seededRandom } from "@resontech/house/seeded-random";
import { AuditdProcess } from "./auditd-process.ts";
import { Coordinator } from "./coordinator.ts";
import type { CrashKind } from "./crash-state.ts";
import { ImageTrials } from "./image-trials.ts";
import type { Mark } from "./promises.ts";
import { diskIn, RecordedRun } from "./recorded-run.ts";
import type { Kill } from "./recorder.ts";
import { Rows } from "./rows.ts";
import { recordSecondLives } from "./runs.ts";
import { recordTurns } from "./turns.ts";
import { type Life, recordInit, recordLife } from "./workload.ts";

const SEED = 11;
const DROPPED: CrashKind[] = ["unsynced dropped"];

/** @param root an empty folder of the case's own */
type Case = (root: string) => Promise<string[]>;

function place(root: string) {
  const images = join(root, "images");
  mkdirSync(images);
  const random = seededRandom(SEED);
  return { random, rows: new Rows(random), trials: new ImageTrials(images, random) };
}

function record(
  folder: string,
  rows: Rows,
  brokenOff: readonly Kill[],
  lives: readonly Life[],
): Promise<RecordedRun> {
  mkdirSync(folder);
  const auditd = new AuditdProcess(folder, diskIn(folder));
  return RecordedRun.record({
    folder,
    auditd,
    rows,
    kept: null,
    live: async (recorder) => {
      await recordInit(auditd, recorder, brokenOff);
      const coordinator = new Coordinator(auditd, rows, seededRandom(SEED), (acks) =>
        recorder.mark({ acks } satisfies Mark),
      );
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

/** Quick ones, in `npm test`. */
export const QUICK_CASES: Readonly<Record<string, Case>> = {
  "a ceremony that was broken off and repeated is durable once it says so": async (root) => {
    const { rows, trials } = place(root);
    // After the renames of key and policy, before their folders are synced.
    const run = await record(
      join(root, "log"),
      rows,
      [{ after: 7 }, { after: 8 }, { after: 14 }],
      [],
    );
    return await brokenAt(trials, run, [run.calls.length], null);
  },

  "without the sync of a batch acknowledgements are lost, and it is noticed": async (root) => {
    const { rows, trials } = place(root);
    const run = await record(join(root, "log"), rows, [], [{ rows: 40 }]);
    const lost = await brokenAt(
      trials,
      run,
      everyNth(100, run.calls.length, 6),
      "bytes of WAL segment",
    );
    return lost.length > 0 ? [] : ["nothing was noticed"];
  },
};

/** Those that take longer, in the proof `audit-crash-cases`. */
export const LONG_CASES: Readonly<Record<string, Case>> = {
  "what a killed auditd had written and not synced is durable before the next one builds on it":
    async (root) => {
      const { rows, trials } = place(root);
      const run = await record(
        join(root, "log"),
        rows,
        [],
        [{ kill: { after: 150, atWriteTo: "/wal/" } }, { rows: 3 }],
      );
      const second = run.kinds.get("life")!.at(-1)!;
      return await brokenAt(trials, run, everyNth(second + 1, run.calls.length, 6), null);
    },

  "a folder of the tree that a killed auditd made is durable before a checkpoint builds on it":
    async (root) => {
      const { rows, trials } = place(root);
      const whole = await record(
        join(root, "whole"),
        new Rows(seededRandom(SEED)),
        [],
        [{ rows: 1 }],
      );
      const life = whole.kinds.get("life")!.at(-1)!;
      const made = whole.calls.findIndex(
        (call) => call.op === "mkdir" && call.path.endsWith("/tile/entries/000.p"),
      );
      const run = await record(
        join(root, "log"),
        rows,
        [],
        [{ kill: { after: made - life + 1 } }, { rows: 1 }],
      );
      return await brokenAt(trials, run, [run.calls.length], null);
    },

  "power that fails again while what it left is taken up breaks nothing": async (root) => {
    const { rows, random, trials } = place(root);
    const run = await record(join(root, "log"), rows, [], [{ rows: 60 }]);
    const broken: string[] = [];
    for await (const second of recordSecondLives(root, run, rows, 3, random))
      broken.push(...(await brokenAt(trials, second, everyNth(20, second.calls.length, 4), null)));
    return broken;
  },

  "a shard that is prepared and turns breaks nothing; without the syncs of a turn it does, and it is noticed":
    async (root) => {
      const { rows, random, trials } = place(root);
      const run = await recordTurns(join(root, "log"), rows, random);
      const points = run.turns.flatMap(({ from, until }) => everyNth(from, until, 3));
      const broken = await brokenAt(trials, run, points, null);
      // Shortly after the first turn, its keys are destroyed and nothing has made up for the sync.
      for (const [call, what] of [
        ["name of current at a turn", /start refused: .*keys\/2026/],
        ["bytes of destroyed key at a turn", /key left/],
      ] as const) {
        const noticed = await brokenAt(trials, run, [run.turns[0]!.until], call);
        if (!noticed.some((line) => what.test(line)))
          broken.push(`without ${call}: ${noticed.join("; ") || "nothing was noticed"}`);
      }
      return broken;
    },
};
