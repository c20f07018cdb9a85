import type { InventoryWorker } from "@resontech/contracts/agent-protocol";
import { areAtBaseline } from "../decisions/workers.ts";
import type { Accelerator, AcceleratorProbe } from "./accelerator-probe.ts";

/** The node's accelerators: who has which, and whether one is free again. */
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
  assign(workers: readonly InventoryWorker[]): void {
    this.#workers = workers;
  }

  /** Those of these workers that are accelerators. */
  of(workerIds: readonly string[]): InventoryWorker[] {
    return this.#workers.filter(({ id, kind }) => kind === "gpu" && workerIds.includes(id));
  }

  /** Bytes in use on these workers' devices, by device; empty for CPU slots. */
  async memoryInUse(workerIds: readonly string[]): Promise<Record<string, number>> {
    const devices = this.of(workerIds).map(({ device }) => device);
    if (devices.length === 0) return {};
    const uses = await this.read();
    return Object.fromEntries(
      uses.filter(({ device }) => devices.includes(device)).map((use) => [use.device, use.memoryInUseBytes]),
    );
  }

  async areAtBaseline(baseline: Readonly<Record<string, number>>): Promise<boolean> {
    return Object.keys(baseline).length === 0 || areAtBaseline(baseline, await this.read());
  }
}
