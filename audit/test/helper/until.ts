import { setTimeout as sleep } from "node:timers/promises";

/** Waits until something holds; each look may take its time. @throws after `timeoutMs` */
export async function until(
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 120_000,
): Promise<void> {
  for (const from = performance.now(); !(await holds()); await sleep(10))
    if (performance.now() - from > timeoutMs)
      throw new Error(`still not after ${timeoutMs} ms: ${holds.toString()}`);
}
