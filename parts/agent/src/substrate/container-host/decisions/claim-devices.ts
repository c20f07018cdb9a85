/** Which devices a member may have, and whether they are free again. Pure. */
import type { InventoryWorker } from "@resontech/contracts/agent-protocol";

const MIB = 1024 * 1024;
/** A driver's own use of a device varies by this much. */
const TOLERANCE_BYTES = 64 * MIB;

export type DeviceUse = { device: string; memoryInUseBytes: number; computeProcesses: number };

/** What the devices of these slots use before a member comes, by device; or why it can't have them. */
export function claimDevices(
  ids: readonly string[],
  workers: readonly InventoryWorker[],
  uses: readonly DeviceUse[],
): { baseline: Record<string, number> } | { refused: string } {
  const baseline: Record<string, number> = {};
  for (const id of ids) {
    const worker = workers.find((one) => one.id === id);
    if (worker === undefined) return { refused: `there is no ${id} on this node now` };
    if (worker.device === undefined) continue;
    if (!worker.healthy)
      return { refused: `${id}, ${worker.device}, is not healthy: ${worker.reason ?? "unknown"}` };
    const use = uses.find(({ device }) => device === worker.device);
    if (use === undefined) return { refused: `${id}, ${worker.device}, is gone` };
    if (use.computeProcesses > 0)
      return { refused: `a process computes on ${id}, ${worker.device}, already` };
    baseline[use.device] = use.memoryInUseBytes;
  }
  return { baseline };
}

/** Whether every device is as free as before its member came; one that is not listed any more is not. */
export function areAtBaseline(
  baseline: Readonly<Record<string, number>>,
  uses: readonly DeviceUse[],
): boolean {
  return Object.entries(baseline).every(([device, before]) => {
    const use = uses.find((found) => found.device === device);
    return (
      use !== undefined &&
      use.computeProcesses === 0 &&
      use.memoryInUseBytes <= before + TOLERANCE_BYTES
    );
  });
}
