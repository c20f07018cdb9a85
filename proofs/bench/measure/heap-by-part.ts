import type { LocalAppliance } from "@resontech/house/local-appliance";
import { parentOf } from "./parent-of.ts";
import { type RetainedHeap, retainedHeap } from "./retained-heap.ts";

/** Our own processes; the supervisor is the parent of each. */
const NODE_PARTS = ["auditd", "s3-front", "coordinator", "agent"] as const;

/** Of each of our own processes of an appliance. @throws Error when one does not run */
export async function heapByPart(appliance: LocalAppliance): Promise<Record<string, RetainedHeap>> {
  const { parts } = appliance.status();
  const heap: Record<string, RetainedHeap> = {};
  for (const name of NODE_PARTS) {
    const pid = parts.find((part) => part.name === name)?.pid ?? null;
    const supervisor = pid === null ? null : parentOf(pid);
    if (pid === null || supervisor === null) throw new Error(`${name} does not run`);
    // One after the other: all open their inspectors at the same place.
    heap[name] = await retainedHeap(pid);
    heap["supervisor"] ??= await retainedHeap(supervisor);
  }
  return heap;
}
