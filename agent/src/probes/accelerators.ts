import type { InventoryWorker } from "@resontech/contracts/agent-protocol";
import type { Accelerator, AcceleratorProbe } from "./accelerator-probe.ts";

/** The node's accelerators, and the slots that they are. */
export class Accelerators {
  readonly #probes: readonly AcceleratorProbe[];
  #workers: readonly InventoryWorker[] = [];

  constructor(probes: readonly AcceleratorProbe[]) {
    this.#probes = probes;
  }

  /** All there are, of every vendor. @throws when a vendor's tool is there and does not answer */
  async read(): Promise<Accelerator[]> {
    const found = await Promise.all(this.#probes.map((probe) => probe.read()));
    return found.flatMap((accelerators) => accelerators ?? []);
  }

  /** The slots as they were laid out last. */
  get workers(): readonly InventoryWorker[] {
    return this.#workers;
  }

  assign(workers: readonly InventoryWorker[]): void {
    this.#workers = workers;
  }
}
