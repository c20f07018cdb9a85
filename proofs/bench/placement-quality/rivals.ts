/** Ways to choose a node for a task, built beside ours from what is published. Each sees the same nodes and tasks. */
import type { Arrivals } from "./arrivals.ts";
import type { TraceNode } from "./openb.ts";

/** @returns the place of the node, null where none has room */
export type Chooser = (free: readonly number[], gpus: number) => number | null;

/** In order of arrival, the first node that has room. */
export const firstFit: Chooser = (free, gpus) => {
  const at = free.findIndex((count) => count >= gpus);
  return at === -1 ? null : at;
};

/** The node that has least to spare. */
export const bestFit: Chooser = (free, gpus) => lowest(free, gpus, (count) => count - gpus);

/**
 * Fragmentation gradient descent (Weng et al., "Beware of Fragmentation", USENIX ATC 2023, section 4): the node on which the expected number of GPUs that no
 * task of the known mix can use grows least.
 * @param tasks the mix, as the paper takes it from the trace
 */
export function fragmentationDescent(tasks: readonly number[]): Chooser {
  const shares = [...Map.groupBy(tasks, (gpus) => gpus)].map(
    ([gpus, alike]) => [gpus, alike.length / tasks.length] as const,
  );
  const unusable = (count: number) =>
    shares.reduce((sum, [gpus, share]) => sum + (count < gpus ? share * count : 0), 0);
  return (free, gpus) => lowest(free, gpus, (count) => unusable(count - gpus) - unusable(count));
}

function lowest(
  free: readonly number[],
  gpus: number,
  costOf: (count: number) => number,
): number | null {
  let best: number | null = null;
  let least = Infinity;
  for (const [at, count] of free.entries()) {
    if (count < gpus) continue;
    const cost = costOf(count);
    if (cost < least) [best, least] = [at, cost];
  }
  return best;
}

/** @returns GPUs that are left over once so many tasks came, for each mark */
export function leftOver(
  nodes: readonly TraceNode[],
  { arriving, marks }: Arrivals,
  choose: Chooser,
): number[] {
  const free = nodes.map(({ gpus }) => gpus);
  const left: number[] = [];
  for (const [at, gpus] of arriving.entries()) {
    const node = choose(free, gpus);
    if (node !== null) free[node]! -= gpus;
    if (marks.includes(at + 1)) left.push(free.reduce((sum, count) => sum + count, 0));
  }
  return left;
}
