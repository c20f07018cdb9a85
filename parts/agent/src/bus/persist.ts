import { setTimeout as sleep } from "node:timers/promises";
import { isPassing } from "./refused-error.ts";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

/**
 * Asks until there is an answer: a coordinator that restarts, or a bus that is away, must not fail a member. The coordinator's own
 * deadlines bound the wait.
 * @throws whatever refuses for good, and the signal's reason
 */
export async function persist<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)) {
    signal.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
