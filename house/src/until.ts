import { setTimeout as sleep } from "node:timers/promises";

/** Waits until `look` answers true. */
export async function until(look: () => Promise<boolean>, limitMs: number): Promise<boolean> {
  for (const deadline = Date.now() + limitMs; Date.now() < deadline; await sleep(200))
    if (await look()) return true;
  return false;
}
