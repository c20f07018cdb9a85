/** Follows a database onto a target until it is told to stop. A stream that can't go on is followed by another one. */
import { setTimeout as pause } from "node:timers/promises";
import { BackupError } from "../backup-error.ts";
import { Stream, type StreamOptions } from "./stream.ts";

/** SQLite's log begins anew between two looks at the soonest: whoever waits for that waits so long. */
const LOOK_MS = 50;
const WRITE_MS = 200;
const NEXT_STREAM_MS = 5_000;
/** A target that is away so long may be another one when it is back: it is opened again. */
const MAX_AWAY_MS = 30_000;

export type FollowState = {
  /** When this was so. */
  atMs: number;
  /** All that was committed before it is on the target; null: nothing yet. */
  upToMs: number | null;
  /** Code of what keeps it from going on; null where nothing does. */
  failure: string | null;
};
export type FollowOptions = Omit<StreamOptions, "target"> & {
  /** Asked at each beginning: a disk may not be mounted. @throws BackupError */
  openTarget: () => Promise<StreamOptions["target"]>;
  /** Told after each look. */
  onState: (state: FollowState) => void;
  /** What a person should read, once for each stream that ended. */
  onError: (error: BackupError) => void;
  /** Changes whenever a whole state is wanted: a backup was taken. */
  wholeFor?: () => string | null;
  nextStreamMs?: number;
  maxAwayMs?: number;
};

export async function followDatabase(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const { onError, onState, now = Date.now, nextStreamMs = NEXT_STREAM_MS } = options;
  let upToMs: number | null = null;
  while (!signal.aborted) {
    try {
      await followOnce(options, signal, (state) => {
        upToMs = state.upToMs ?? upToMs;
        onState({ ...state, upToMs });
      });
    } catch (error) {
      if (!(error instanceof BackupError)) throw error;
      onError(error);
      const endsAt = performance.now() + nextStreamMs;
      while (!signal.aborted && performance.now() < endsAt) {
        onState({ atMs: now(), upToMs, failure: error.code });
        await pause(Math.min(1_000, nextStreamMs), undefined, { signal }).catch(() => {});
      }
    }
  }
}

/** Follows until `signal`, or until the stream can't go on. @throws BackupError */
async function followOnce(
  {
    openTarget,
    onState: _all,
    wholeFor = () => null,
    now = Date.now,
    maxAwayMs = MAX_AWAY_MS,
    ...options
  }: FollowOptions,
  signal: AbortSignal,
  onState: (state: FollowState) => void,
): Promise<void> {
  const target = await openTarget();
  const stream = new Stream({ ...options, target, now });
  try {
    let whole = wholeFor();
    let wroteAtMs = Number.NEGATIVE_INFINITY;
    let wellAtMs = performance.now();
    while (!signal.aborted) {
      stream.look();
      if (performance.now() - wroteAtMs >= WRITE_MS) {
        wroteAtMs = performance.now();
        const wanted = wholeFor();
        if (wanted !== whole) stream.askForWhole();
        whole = wanted;
        stream.write();
        const { upToMs, failure } = stream;
        onState({ atMs: now(), upToMs, failure: failure?.code ?? null });
        if (failure === null) wellAtMs = performance.now();
        // Without a first whole state nothing of the stream is of use: the log is let go until the target answers.
        else if (upToMs === null || performance.now() - wellAtMs > maxAwayMs) throw failure;
      }
      await pause(LOOK_MS, undefined, { signal }).catch(() => {});
    }
    await stream.settle();
  } finally {
    await stream.end();
  }
}
