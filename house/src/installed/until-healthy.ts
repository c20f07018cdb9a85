import { setTimeout as sleep } from "node:timers/promises";
import type { LocalAppliance } from "./local-appliance.ts";

/** Longer than the supervisor waits before it starts a part that ended often. */
const LIMIT_MS = 90_000;

/**
 * @param stopped parts that somebody stopped
 * @throws Error when another part is not healthy within 90 s
 */
export async function untilHealthy(
  appliance: LocalAppliance,
  stopped: readonly string[] = [],
): Promise<void> {
  for (const from = Date.now(); Date.now() - from < LIMIT_MS; await sleep(500)) {
    const { parts } = appliance.status();
    // None at all: the supervisor does not run yet.
    const isWhole =
      parts.length > 0 &&
      parts.every(
        ({ name, phase, pid }) => stopped.includes(name) || (phase === "healthy" && pid !== null),
      );
    if (isWhole) return;
  }
  throw new Error(`not every part was healthy within ${LIMIT_MS / 1000} s`);
}
