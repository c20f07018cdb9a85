import type { NodeRegistered, WorkerTrial } from "@resontech/contracts/agent-protocol";

export type WorkerRow = {
  worker: string;
  device: string;
  isGood: boolean;
  /** The image that it was tried with; null where it was not tried. */
  image: string | null;
  why: string;
};

/** What the operator is shown of a node's workers: a worker is good when its device is healthy and a job image did its work on it. */
export function workerTable({ workers, trials = [] }: NodeRegistered): WorkerRow[] {
  return workers.map(({ id, kind, model, healthy, reason }) => {
    const trial = trials.find(({ worker }) => worker === id);
    const unfit = healthy ? null : (reason ?? "its device does not answer, or reports an error");
    const why = unfit ?? noImage(trial) ?? "";
    const device = `${kind} ${model}`;
    return { worker: id, device, isGood: why === "", image: trial?.image ?? null, why };
  });
}

function noImage(trial: WorkerTrial | undefined): string | null {
  return trial?.state === "none" ? `no job image is for it: it is one ${trial.why ?? ""}` : null;
}
