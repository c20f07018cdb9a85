import type { InventoryWorker } from "@resontech/contracts/agent-protocol";
import type { Accelerators } from "../../../probes/accelerators.ts";
import { DevicesNotFreeError } from "../../substrate-errors.ts";
import { areAtBaseline, claimDevices } from "../decisions/claim-devices.ts";
import { whyNotGiven } from "./why-not-given.ts";

/** The node's accelerators among its members: who has which, and whether one is free again. */
export class NodeDevices {
  readonly #accelerators: Pick<Accelerators, "read" | "workers">;

  readonly #engine: "podman" | "docker";

  constructor(
    accelerators: Pick<Accelerators, "read" | "workers">,
    engine: "podman" | "docker" = "docker",
  ) {
    this.#accelerators = accelerators;
    this.#engine = engine;
  }

  /** Those of these workers that are accelerators. */
  of(workerIds: readonly string[]): InventoryWorker[] {
    return this.#accelerators.workers.filter(
      ({ id, kind }) => kind === "gpu" && workerIds.includes(id),
    );
  }

  /** For a member that is about to come. @throws DevicesNotFreeError when it can't have all of them */
  async claim(workerIds: readonly string[]): Promise<Record<string, number>> {
    const uses = this.of(workerIds).length === 0 ? [] : (await this.#accelerators.read()).found;
    const claim = claimDevices(workerIds, this.#accelerators.workers, uses);
    if ("refused" in claim) throw new DevicesNotFreeError(claim.refused);
    const notGiven = whyNotGiven(this.#engine, this.of(workerIds));
    if (notGiven !== null) throw new DevicesNotFreeError(notGiven);
    return claim.baseline;
  }

  async areAtBaseline(baseline: Readonly<Record<string, number>>): Promise<boolean> {
    if (Object.keys(baseline).length === 0) return true;
    const { found, failures } = await this.#accelerators.read();
    const isAtBaseline = areAtBaseline(baseline, found);
    // Why it can't be known, rather than that it is not so.
    const [failure] = failures.values();
    if (!isAtBaseline && failure !== undefined) throw failure;
    return isAtBaseline;
  }
}
