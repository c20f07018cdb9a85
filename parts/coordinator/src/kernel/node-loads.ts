import type { NodeUse } from "@resontech/contracts/agent-protocol";
import type { Clock } from "./clock.ts";
import type { NodeBusyness } from "./decisions/node-score.ts";

/** What was told longer ago says nothing of now: some beats are lost, and a silent node is none that anybody is given. */
const FRESH_MS = 20_000;
/** Processor time of a shorter while is noise. */
const SHORTEST_MS = 1_000;

type Told = { at: number; use: NodeUse; cpu: number | null };

/** How busy nodes are by their last beats, in memory alone. */
export class NodeLoads {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #told = new Map<string, Told>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** @param use of its last beat; an agent that tells nothing is known by nothing */
  take(node: string, use: NodeUse | undefined): void {
    if (use === undefined) {
      this.#told.delete(node);
      return;
    }
    const at = this.#clock.monotonic();
    const before = this.#told.get(node);
    if (before !== undefined && at - before.at < SHORTEST_MS) return;
    const cpu = before === undefined ? null : cpuPart(before.use, use, at - before.at);
    this.#told.set(node, { at, use, cpu });
  }

  /** Parts of what the node has; null where it has told nothing lately. */
  of(node: string): NodeBusyness | null {
    const told = this.#told.get(node);
    if (told === undefined || this.#clock.monotonic() - told.at > FRESH_MS) return null;
    return { cpu: told.cpu, memory: memoryPart(told.use) };
  }
}

function cpuPart(before: NodeUse, now: NodeUse, passedMs: number): number | null {
  if (before.cpuMs === undefined || now.cpuMs === undefined || !now.processors) return null;
  // It counts from the start of the node, which has started anew.
  if (now.cpuMs < before.cpuMs) return null;
  return Math.min(1, (now.cpuMs - before.cpuMs) / (passedMs * now.processors));
}

function memoryPart({ memoryBytes, memoryInUseBytes }: NodeUse): number | null {
  if (memoryInUseBytes === undefined || !memoryBytes) return null;
  return Math.min(1, memoryInUseBytes / memoryBytes);
}
