/** Which workers have yet to show, by one container of a job image, that jobs can run on them; and what is told of those. Pure. */
import type { InventoryWorker, WorkerTrial } from "@resontech/contracts/agent-protocol";

export type TrialResult =
  | { state: "passed"; image: string }
  /** The worker is kept from work until it is proven well. */
  | { state: "failed"; image: string; why: string }
  /** Nothing was learnt of the worker itself: it is tried again soon. */
  | { state: "put-off"; image: string | null; why: string }
  /** No job can come to it, so there is nothing to try. */
  | { state: "none"; why: string };

/** With the words around it, what a worker's reason may have. */
const MAX_WHY = 440;
const DUE = "its trial has not ended yet: a container of a job image runs on it first";

/**
 * What a trial is of: a device under one driver, or all CPU slots of the node. Null for a worker that needs none.
 * @param triesProcessors whether CPU slots are tried on this node
 */
export function trialSubject(
  { kind, device, driver }: Pick<InventoryWorker, "kind" | "device" | "driver">,
  triesProcessors: boolean,
): string | null {
  if (kind === "cpu") return triesProcessors ? "cpu" : null;
  return `${device ?? ""} ${driver ?? ""}`;
}

/** The worker as it is told, by the result of its trial; undefined before there is one. What is not well is not tried. */
export function withTrial(
  worker: InventoryWorker,
  result: TrialResult | undefined,
): InventoryWorker {
  if (!worker.healthy) return worker;
  switch (result?.state) {
    case undefined:
      return { ...worker, healthy: false, onTrial: true, reason: DUE };
    case "failed":
      return { ...worker, healthy: false, reason: `its trial failed: ${cut(result.why)}` };
    case "put-off":
      return {
        ...worker,
        healthy: false,
        reason: `its trial could not run, and is tried again: ${cut(result.why)}`,
      };
    case "passed":
    case "none":
      return worker;
  }
}

/** Tells whoever installs the node what became of a trial. */
export function trialTold(worker: string, result: TrialResult | undefined): WorkerTrial {
  if (result === undefined) return { worker, state: "due", why: null, image: null };
  const { state } = result;
  return {
    worker,
    state: state === "put-off" ? "failed" : state,
    why: "why" in result ? cut(result.why) : null,
    image: "image" in result ? result.image : null,
  };
}

function cut(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim().slice(0, MAX_WHY);
}
