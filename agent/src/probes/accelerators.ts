import type { InventoryWorker } from "@resontech/contracts/agent-protocol";
import { areAtBaseline, claimDevices } from "../decisions/workers.ts";
import type { Accelerator, AcceleratorProbe } from "./accelerator-probe.ts";

/** A member can't have what it was placed on. */
export class DevicesNotFreeError extends Error {
  override readonly name = "DevicesNotFreeError";
  readonly code = "devices_not_free";
}

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

  /** For a member that is about to come. @throws DevicesNotFreeError when it can't have all of them */
  async claim(workerIds: readonly string[]): Promise<Record<string, number>> {
    const uses = this.of(workerIds).length === 0 ? [] : await this.read();
    const claim = claimDevices(workerIds, this.#workers, uses);
    if ("refused" in claim) throw new DevicesNotFreeError(claim.refused);
    return claim.baseline;
  }

  async areAtBaseline(baseline: Readonly<Record<string, number>>): Promise<boolean> {
    return Object.keys(baseline).length === 0 || areAtBaseline(baseline, await this.read());
  }
}
