import { setTimeout as sleep } from "node:timers/promises";
import { isGoneMeanwhile, statusOf } from "./engine-error.ts";

/** A supervisor that restarts the engine is done in less. */
const PATIENCE_MS = 60_000;
const WAIT_MS = 500;
/** An end is noted within milliseconds; on a busy host, within a second. */
const MAX_RETRIES = 40;
const RETRY_MS = 50;
/** Nobody listens, or the listener went away in the middle. */
const AWAY: readonly unknown[] = ["ECONNREFUSED", "ENOENT", "ECONNRESET", "EPIPE"];

/** Repeats a call while the engine does not listen; containers run on meanwhile. @throws the call's error, or the signal's reason */
export async function retryUntilEngineUp<T>(
  call: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      if (!isAway(error) || performance.now() > until) throw error;
    }
    await sleep(WAIT_MS, undefined, { signal });
  }
}

/** Repeats a call that failed because something else went away meanwhile. @throws the call's error */
export async function retryOnVanished<T>(call: () => Promise<T>): Promise<T> {
  for (let triesLeft = MAX_RETRIES; ; triesLeft -= 1) {
    try {
      return await call();
    } catch (error) {
      if (triesLeft === 0 || !isGoneMeanwhile(error)) throw error;
    }
    await sleep(RETRY_MS);
  }
}

function isAway(error: unknown): boolean {
  return (
    error instanceof Error && statusOf(error) === 0 && "code" in error && AWAY.includes(error.code)
  );
}
