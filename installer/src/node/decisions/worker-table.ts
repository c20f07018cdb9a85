import type { InventoryWorker } from "@resontech/contracts/agent-protocol";

export type WorkerRow = { worker: string; device: string; isGood: boolean; why: string };

/**
 * What the operator is shown of a node's workers: a worker is good when its device is healthy and a container of the job image ran on the node.
 *
 * @param imageFailure why that container did not run; null when it did, undefined when it was not tried
 */
export function workerTable(
  workers: readonly Pick<InventoryWorker, "id" | "kind" | "model" | "healthy">[],
  imageFailure: string | null | undefined,
): WorkerRow[] {
  return workers.map(({ id, kind, model, healthy }) => {
    const why = healthy ? (imageFailure ?? "") : "its device does not answer, or reports an error";
    return { worker: id, device: `${kind} ${model}`, isGood: why === "", why };
  });
}
