import { setTimeout as sleep } from "node:timers/promises";

/** Polls until `look` answers something; the test's patience ends with a sentence. */
export async function untilFound<T>(
  what: string,
  look: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  timeoutMs = 90_000,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`waited ${timeoutMs / 1000} s for: ${what}`);
    await sleep(50);
  }
}
