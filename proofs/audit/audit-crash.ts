/**
 * The audit log after power cuts, kills and full disks. Runs of auditd are recorded call by call, one of them through turns of the year; at seeded
 * points the disk is put into a state that POSIX allows, a real auditd takes it up, and every acknowledgement that the producer had, every checkpoint
 * that could be read, and what opens the commitments must be there; of shards the newest alone is written, follows the one before, and has the keys
 * that were named. The same with each sync call left out in turn, which must be noticed. Then real kills and really full disks.
 *
 * `npm run prove -- audit-crash [SEED [POINTS]]` (1 and 1000 unless said)
 */
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { temporaryRoot } from "./instances/auditd-instance.ts";
import { CRASH_KINDS, type CrashKind } from "./crash/crash-state.ts";
import { type FullDiskRound, fillDisk, type Lack } from "./crash/full-disk.ts";
import { ImageTrials, type TriedImage } from "./crash/image-trials.ts";
import { type KillRound, killAgainAndAgain } from "./crash/kills.ts";
import { drawPoints, drawPointsWithin } from "./crash/points.ts";
import type { RecordedRun, Window } from "./crash/recorded-run.ts";
import { Rows } from "./crash/rows.ts";
import { recordLog, recordSecondLives } from "./crash/runs.ts";
import { recordTurns } from "./crash/turns.ts";
import { seededRandom } from "@resontech/house/seeded-random";
import type { ProofContext, ProofResult } from "../proof.ts";

const ALL_KINDS = Object.keys(CRASH_KINDS) as CrashKind[];
/** Those that take most from bytes, and from names, that were not synced. */
const TELLING_OF_BYTES: readonly CrashKind[] = [
  "unsynced dropped",
  "names without bytes",
  "torn",
  "reordered",
  "stale blocks",
];
const TELLING_OF_NAMES: readonly CrashKind[] = ["unsynced dropped", "reordered"];
/** One that is back alone says little; it is its order that counts. */
const TELLING_OF_REMOVALS: readonly CrashKind[] = ["reordered"];
const DEFAULT_POINTS = 1_000;
const ROUNDS = 4;
/** Of the points, those within the taking up of what an earlier power cut left. */
const SECOND_SHARE = 0.25;
/** And those within turns of the year. */
const TURN_SHARE = 0.2;
const POINTS_IN_A_SECOND_LIFE = 20;
/** 200 and 100 for 1,000 points. */
const KILLS_PER_POINT = 0.2;
const KILLS_OF_A_LOG = 20;
const FULL_DISKS_PER_POINT = 0.1;
const IMAGES_FOR_A_CALL = 20;
const MAX_IMAGES_FOR_A_CALL = 400;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const seed = Number(args[0] ?? 1);
  const points = Number(args[1] ?? DEFAULT_POINTS);
  if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(points) || points < 1)
    throw new TypeError("SEED and POINTS are numbers");
  const secondPoints = Math.floor(points * SECOND_SHARE);
  const turnPoints = Math.floor(points * TURN_SHARE);
  const random = seededRandom(seed);
  const folder = temporaryRoot();
  const images = mkdtempSync(join(memoryDisk(), "rta-"));
  try {
    const trials = new ImageTrials(images, random);
    const rows = new Rows(random);
    const run = await recordLog(join(folder, "log"), rows, ROUNDS, random);
    progress(`${run.calls.length} calls recorded, ${rows.all.length} events`);
    const report = reporter(progress, points);
    const cuts = await trials.run(
      run,
      drawPoints(points - secondPoints - turnPoints, run.whole, run.kinds, random),
      null,
      ALL_KINDS,
      report,
    );
    let lives = 0;
    for await (const second of recordSecondLives(
      folder,
      run,
      rows,
      Math.ceil(secondPoints / POINTS_IN_A_SECOND_LIFE),
      random,
    )) {
      lives += 1;
      const count = Math.min(POINTS_IN_A_SECOND_LIFE, points - turnPoints - cuts.length);
      cuts.push(
        ...(await trials.run(
          second,
          drawPoints(count, second.whole, second.kinds, random),
          null,
          ALL_KINDS,
          report,
        )),
      );
    }
    const turns = await recordTurns(join(folder, "turns"), new Rows(random), random);
    progress(`${turns.turns.length} turns recorded in ${turns.calls.length} calls`);
    cuts.push(
      ...(await trials.run(
        turns,
        drawPoints(turnPoints, turns.turns, turns.kinds, random),
        null,
        ALL_KINDS,
        report,
      )),
    );
    const table = await leaveOutEach([run, turns], trials, random, progress);
    const killed = await killRounds(folder, Math.ceil(points * KILLS_PER_POINT), random, progress);
    const filled = await fullDisks(
      folder,
      Math.ceil(points * FULL_DISKS_PER_POINT),
      random,
      progress,
    );
    const figures = {
      seed,
      calls_recorded: run.calls.length,
      events: rows.all.length,
      second_lives_recorded: lives,
      turns_recorded: turns.turns.length,
      images: cuts.length,
      images_at_turns: turnPoints,
      images_by_kind: countBy(cuts, ({ kind }) => kind),
      broken: cuts.filter(({ broken }) => broken.length > 0).map(describe),
      left_out: table,
      kills: killed.length,
      acknowledged_before_kills: sum(killed.map(({ acks }) => acks)),
      broken_after_kills: killed.flatMap(({ broken }) => broken),
      full_disks: summaryOf(filled),
      broken_after_full_disks: filled.flatMap(({ broken }) => broken),
    };
    return {
      ok:
        figures.broken.length === 0 &&
        figures.broken_after_kills.length === 0 &&
        figures.broken_after_full_disks.length === 0 &&
        Object.entries(table).every(
          ([call, { caught }]) => caught > 0 || KEPT_THOUGH_NEEDLESS.has(call),
        ),
      figures,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(images, { recursive: true, force: true });
  }
}

type LeftOut = { images: number; caught: number; as: Record<string, number> };

/** Calls that may be left out without harm, and why they are there. */
const KEPT_THOUGH_NEEDLESS: ReadonlySet<string> = new Set([
  // An older ledger is as good, only that a start reads more leaves; it is written by the one way in which files are replaced.
  "name of ledger",
  "name of ledger at a turn",
  // Prepared keys that are gone at the turn are made and named anew before it, and those that are there are synced once more.
  "name of key at a turn",
  // The same call as at every start. What a closed shard's segments held is under its last checkpoint, and seldom there is more than one.
  "removed name of WAL segment at a turn",
]);

/** Each is left out of the runs that make it, in turns, the one first that goes on without it for the longest. */
async function leaveOutEach(
  runs: readonly RecordedRun[],
  trials: ImageTrials,
  random: () => number,
  progress: (line: string) => void,
): Promise<Record<string, LeftOut>> {
  const table: Record<string, LeftOut> = {};
  for (const call of new Set(runs.flatMap(({ syncCalls }) => [...syncCalls]))) {
    const places = runs
      .map((run) => ({ run, windows: run.windowsWithout(call) }))
      .filter(({ windows }) => windows.length > 0)
      .sort((one, other) => longest(other.windows) - longest(one.windows));
    const kinds = tellingKinds(call);
    const tried: TriedImage[] = [];
    let caught: TriedImage[] = [];
    // Some are missed for a moment only, between two calls of a life: these take more images.
    while (
      tried.length < (KEPT_THOUGH_NEEDLESS.has(call) ? IMAGES_FOR_A_CALL : MAX_IMAGES_FOR_A_CALL) &&
      caught.length === 0
    ) {
      const { run, windows } = places[(tried.length / IMAGES_FOR_A_CALL) % places.length]!;
      const points = drawPointsWithin(IMAGES_FOR_A_CALL, run.calls.length, windows, random);
      tried.push(...(await trials.run(run, points, call, kinds)));
      caught = tried.filter(({ broken }) => broken.length > 0);
    }
    table[call] = {
      images: tried.length,
      caught: caught.length,
      as: countBy(caught, ({ broken }) => broken[0]!.split(":")[0]!),
    };
    progress(
      `without the sync of ${call}: ${caught.length} of ${tried.length} images caught ${JSON.stringify(table[call].as)}`,
    );
  }
  return table;
}

function tellingKinds(call: string): readonly CrashKind[] {
  if (call.startsWith("bytes")) return TELLING_OF_BYTES;
  return call.startsWith("removed") ? TELLING_OF_REMOVALS : TELLING_OF_NAMES;
}

function longest(windows: readonly Window[]): number {
  return Math.max(...windows.map(({ from, until }) => until - from));
}

async function killRounds(
  folder: string,
  kills: number,
  random: () => number,
  progress: (line: string) => void,
): Promise<KillRound[]> {
  const rounds: KillRound[] = [];
  // Two logs at a time, each a new one now and then: it is read as a whole after every kill.
  const logs = Array.from({ length: Math.ceil(kills / KILLS_OF_A_LOG) }, (_, log) => log).values();
  const oneAfterTheOther = async (): Promise<void> => {
    for (const log of logs) {
      const count = Math.min(KILLS_OF_A_LOG, kills - log * KILLS_OF_A_LOG);
      rounds.push(...(await killAgainAndAgain(join(folder, `kills-${log}`), count, random)));
      progress(
        `${rounds.length} of ${kills} kills, ${rounds.filter(({ broken }) => broken.length > 0).length} broken`,
      );
    }
  };
  await Promise.all([oneAfterTheOther(), oneAfterTheOther()]);
  return rounds;
}

async function fullDisks(
  folder: string,
  count: number,
  random: () => number,
  progress: (line: string) => void,
): Promise<FullDiskRound[]> {
  const rounds: FullDiskRound[] = [];
  const numbers = Array.from({ length: count }, (_, n) => n).values();
  const oneAfterTheOther = async (): Promise<void> => {
    for (const n of numbers) {
      rounds.push(
        await fillDisk(join(folder, `full-${n}`), n % 2 === 0 ? "bytes" : "inodes", random),
      );
      if (rounds.length % 20 === 0) progress(`${rounds.length} of ${count} full disks`);
    }
  };
  await Promise.all([oneAfterTheOther(), oneAfterTheOther()]);
  return rounds;
}

function summaryOf(rounds: readonly FullDiskRound[]): Record<string, unknown> {
  const of = (lack: Lack) => {
    const those = rounds.filter((round) => round.lack === lack);
    return {
      disks: those.length,
      acknowledged: sum(those.map(({ acks }) => acks)),
      ended_of_itself: those.filter(({ hasEnded }) => hasEnded).length,
      started_while_full: those.filter(({ startOnFull }) => startOnFull === "started").length,
    };
  };
  return { bytes: of("bytes"), inodes: of("inodes") };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Syncs cost nothing where nothing is kept. */
function memoryDisk(): string {
  try {
    accessSync("/dev/shm", constants.W_OK);
    return "/dev/shm";
  } catch {
    return tmpdir();
  }
}

function reporter(progress: (line: string) => void, points: number): (tried: TriedImage) => void {
  let done = 0;
  return (tried) => {
    done += 1;
    if (tried.broken.length > 0) progress(`BROKEN ${describe(tried)}`);
    if (done % 50 === 0) progress(`${done} of ${points} images`);
  };
}

function describe({ kind, point, size, acks, broken }: TriedImage): string {
  return `${kind} after call ${point}, ${size} leaves, ${acks} acknowledged: ${broken.length} broken, first: ${broken[0]}`;
}

function countBy<T>(all: readonly T[], key: (one: T) => string): Record<string, number> {
  return Object.fromEntries(
    [...Map.groupBy(all, key)].map(([name, group]) => [name, group.length]),
  );
}
