/**
 * Workers that no gang of a cycle tells apart: of one model, device and health, on nodes of one state, and each with as much memory as the same gangs ask
 * for. A filter is asked once for each kind and not for each worker. Pure.
 */
import type { PlacementNode, PlacementWorker } from "./placement-facts.ts";

const MIB = 1024 ** 2;

/** One of the kind, and its node. */
export type WorkerKind = { worker: PlacementWorker; node: PlacementNode | undefined };

export class WorkerKinds {
  /** In the order in which the first of each stands among the workers. */
  readonly kinds: readonly WorkerKind[];
  /** Of each worker, as they were given, the place of its kind. */
  readonly places: Uint32Array;

  /** @param needsMb amounts of memory that gangs ask for @param isPartAsked a gang asks for a part of its node: workers of nodes of other sizes differ then */
  constructor(
    workers: readonly PlacementWorker[],
    nodes: ReadonlyMap<string, PlacementNode>,
    needsMb: Iterable<number>,
    isPartAsked = false,
  ) {
    const levels = [...new Set(needsMb)].map((mb) => mb * MIB).toSorted((a, b) => a - b);
    const kinds: WorkerKind[] = [];
    const placeOf = new Map<string, number>();
    const nodeKeys = new Map<string, string>();
    this.places = new Uint32Array(workers.length);
    const last = { node: "", key: "", level: -1, place: 0 };
    for (let at = 0; at < workers.length; at += 1) {
      const worker = workers[at]!;
      const own = keyOfWorker(worker);
      const level = levelOf(levels, worker.memoryBytes);
      // Most stand beside others of their node that are like them.
      if (last.node === worker.node && last.key === own && last.level === level && !isPartAsked) {
        this.places[at] = last.place;
        continue;
      }
      const node = nodes.get(worker.node);
      let nodeKey = nodeKeys.get(worker.node);
      if (nodeKey === undefined) nodeKeys.set(worker.node, (nodeKey = keyOfNode(node)));
      const part = isPartAsked ? `|${worker.memoryBytes} ${JSON.stringify(node?.size)}` : "";
      const key = `${nodeKey}|${own}|${level}${part}`;
      let place = placeOf.get(key);
      if (place === undefined) {
        placeOf.set(key, (place = kinds.length));
        kinds.push({ worker, node });
      }
      this.places[at] = place;
      Object.assign(last, { node: worker.node, key: own, level, place });
    }
    this.kinds = kinds;
  }
}

/** How many of the amounts, in rising order, are there. */
export function levelOf(amounts: readonly number[], bytes: number): number {
  let level = 0;
  while (level < amounts.length && amounts[level]! <= bytes) level += 1;
  return level;
}

function keyOfNode(node: PlacementNode | undefined): string {
  if (node === undefined) return "";
  const { ownerId, isReady, isCordoned, hasDisk, agentProtocol, gate, score = 1 } = node;
  return JSON.stringify([ownerId, isReady, isCordoned, hasDisk, agentProtocol, gate?.key, score]);
}

const workerKeys = new WeakMap<PlacementWorker, string>();

function keyOfWorker(worker: PlacementWorker): string {
  const known = workerKeys.get(worker);
  if (known !== undefined) return known;
  const { model, device, isHealthy } = worker;
  const { kind, vendor, architecture, driver } = device;
  const key = JSON.stringify([model, isHealthy, kind, vendor, architecture, driver]);
  workerKeys.set(worker, key);
  return key;
}
