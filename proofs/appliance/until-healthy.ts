import { setTimeout as sleep } from "node:timers/promises";
import type { LocalAppliance } from "../../dev/local-appliance.ts";

/** Longer than the supervisor waits before it starts a part that ended often. */
const LIMIT_MS = 90_000;

/** @throws Error when a part is not healthy within 90 s */
export async function untilHealthy(appliance: LocalAppliance): Promise<void> {
  for (const from = Date.now(); Date.now() - from < LIMIT_MS; await sleep(500))
    if (appliance.status().parts.every(({ phase, pid }) => phase === "healthy" && pid !== null)) return;
  throw new Error(`not every part was healthy within ${LIMIT_MS / 1000} s`);
}
