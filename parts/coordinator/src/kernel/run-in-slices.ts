import { setImmediate as turn } from "node:timers/promises";

/** So long nobody else is answered. */
const SLICE_MS = 10;

/**
 * Runs all steps, and lets the loop turn whenever a slice of time is spent.
 * @param now in milliseconds, as time passes
 * @param sliceMs how long nobody else is answered
 */
export async function runInSlices<T>(
  steps: Generator<void, T>,
  now: () => number = () => performance.now(),
  sliceMs = SLICE_MS,
): Promise<T> {
  let end = now() + sliceMs;
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    // Looked at after each step: some take as long as a slice, and a look some dozen nanoseconds.
    if (now() > end) {
      await turn();
      end = now() + sliceMs;
    }
  }
}
