import type { InventoryWorker } from "@resontech/contracts/agent-protocol";
import { type Accelerator, type AcceleratorProbe, ProbeFailedError } from "./accelerator-probe.ts";

type Vendor = Accelerator["vendor"];

/** What all tools said at one moment. */
export type Reading = {
  found: Accelerator[];
  /** Vendors whose tool is there and did not answer: what they have is not known. */
  failures: ReadonlyMap<Vendor, ProbeFailedError>;
};

/** The node's accelerators, and the slots that they are. */
export class Accelerators {
  readonly #probes: readonly AcceleratorProbe[];
  #workers: readonly InventoryWorker[] = [];

  constructor(probes: readonly AcceleratorProbe[]) {
    this.#probes = probes;
  }

  /** All there are, of every vendor, asked at once. One tool that fails hides no other vendor's devices. */
  async read(): Promise<Reading> {
    const failures = new Map<Vendor, ProbeFailedError>();
    const found = await Promise.all(
      this.#probes.map(async (probe) => {
        try {
          return (await probe.read()) ?? [];
        } catch (error) {
          if (!(error instanceof ProbeFailedError)) throw error;
          failures.set(probe.vendor, error);
          return [];
        }
      }),
    );
    return { found: found.flat(), failures };
  }

  /** The slots as they were laid out last. */
  get workers(): readonly InventoryWorker[] {
    return this.#workers;
  }

  assign(workers: readonly InventoryWorker[]): void {
    this.#workers = workers;
  }
}
