import type { DeviceUse, InventoryWorker } from "@resontech/contracts/agent-protocol";
import { type Accelerator, type AcceleratorProbe, ProbeFailedError } from "./accelerator-probe.ts";

/** What is known of devices beside their tools' word. */
export type DeviceJudge = {
  /** The same devices, those that are not well marked so, and those that are lost. */
  judge(found: readonly Accelerator[], silentVendors: ReadonlySet<string>): Accelerator[];
};

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
  readonly #judge: DeviceJudge;
  #workers: readonly InventoryWorker[] = [];
  #last: { found: readonly Accelerator[]; atMs: number } = { found: [], atMs: 0 };

  constructor(
    probes: readonly AcceleratorProbe[],
    judge: DeviceJudge = { judge: (found) => [...found] },
  ) {
    this.#probes = probes;
    this.#judge = judge;
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
    this.#last = { found: found.flat(), atMs: performance.now() };
    return { found: found.flat(), failures };
  }

  /** What the devices did when their tools were last asked, for whatever reason. */
  uses(): DeviceUse[] {
    const ageMs = Math.round(performance.now() - this.#last.atMs);
    return this.#workers.flatMap(({ id, device }) => {
      const found = this.#last.found.find((one) => one.device === device);
      return found === undefined
        ? []
        : [{ worker: id, memoryInUseBytes: found.memoryInUseBytes, ...found.usage, ageMs }];
    });
  }

  /** The same for the inventory: with what else is known of each, and with those that are lost. */
  async look(): Promise<Reading> {
    const { found, failures } = await this.read();
    return { found: this.#judge.judge(found, new Set(failures.keys())), failures };
  }

  /** The slots as they were laid out last. */
  get workers(): readonly InventoryWorker[] {
    return this.#workers;
  }

  assign(workers: readonly InventoryWorker[]): void {
    this.#workers = workers;
  }
}
