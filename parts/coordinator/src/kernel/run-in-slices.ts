import { setImmediate as turn } from "node:timers/promises";

/** So long nobody else is answered. */
const SLICE_MS = 10;
/** The clock is looked at so seldom that looking costs nothing. */
const STEPS_PER_LOOK = 32;

/** Runs all steps, and lets the loop turn whenever a slice of time is spent. */
export async function runInSlices<T>(steps: Generator<void, T>): Promise<T> {
  let end = performance.now() + SLICE_MS;
  for (let step = 1; ; step += 1) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (step % STEPS_PER_LOOK === 0 && performance.now() > end) {
      await turn();
      end = performance.now() + SLICE_MS;
    }
  }
}
