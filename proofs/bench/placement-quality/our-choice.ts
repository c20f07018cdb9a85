/** Our own plan as a choice of nodes: each task is one gang on one node, and each plan sees the fleet as it is by then. */
import { plan } from "@resontech/coordinator/placement";
import type {
  PlacementNode,
  PlacementWorker,
  WaitingGang,
} from "@resontech/coordinator/placement-facts";
import type { Arrivals } from "./arrivals.ts";
import type { TraceNode } from "./openb.ts";

const GIB = 1024 ** 3;

/** @returns as {@link leftOver} does. @param lot so many tasks come at once, and one plan sees them all */
export function leftOverByPlan(
  traced: readonly TraceNode[],
  { arriving, marks }: Arrivals,
  lot: number,
): number[] {
  const nodes = traced.map(
    ({ id }): PlacementNode => ({
      ...{ id, ownerId: null, isReady: true, isCordoned: false, hasDisk: true },
      ...{ freePorts: 8, gatewayPorts: 8, capacityBytes: 256 * GIB, agentProtocol: 99 },
    }),
  );
  let workers = traced.flatMap(({ id, model, gpus }) =>
    Array.from(
      { length: gpus },
      (_, at): PlacementWorker => ({
        ...{ id: `${id}-${at}`, node: id, model, memoryBytes: 16 * GIB },
        device: { kind: "gpu", vendor: "nvidia", architecture: "8.0", driver: "570.1" },
        ...{ isHealthy: true, isFree: true },
      }),
    ),
  );
  const left: number[] = [];
  for (let at = 0; at < arriving.length; ) {
    // A lot ends where what is left over is counted.
    const end = Math.min(at + lot, ...marks.filter((mark) => mark > at));
    const from = at;
    const gangs = arriving.slice(from, end).map(
      (size, n): WaitingGang => ({
        ...{
          job: `job-${from + n}`,
          sequence: from + n,
          isFurther: false,
          userId: "u",
          project: "p",
        },
        ...{ priority: 50, size, onlyMine: false, estimatedMemoryMb: null, hubBytes: null },
        selection: { kind: "auto", gpuModels: null, maxPriceCents: null },
        ...{ avoidNodes: [], images: null, runsMs: null, agentProtocol: 1, isReached: false },
      }),
    );
    // Nothing ends: a task that finds no room goes away, as in the paper.
    const taken = new Set(plan({ gangs, nodes, workers }).placements.flatMap((one) => one.workers));
    workers = workers.map((one) => (taken.has(one.id) ? { ...one, isFree: false } : one));
    at = end;
    if (marks.includes(at)) left.push(workers.filter(({ isFree }) => isFree).length);
  }
  return left;
}
