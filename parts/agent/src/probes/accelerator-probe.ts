import type { InventoryWorker } from "@resontech/contracts/agent-protocol";

/** What a device does now; each absent where its tool does not say. */
export type DeviceUsage = {
  utilizationPercent?: number;
  powerWatts?: number;
  temperatureC?: number;
};

/** One accelerator as its vendor's tool describes it. */
export type Accelerator = Required<
  Pick<InventoryWorker, "model" | "memoryBytes" | "device" | "vendor" | "healthy">
> &
  Pick<InventoryWorker, "architecture" | "driver" | "reason" | "pciAddress"> & {
    /** The newest CUDA that its driver runs: `12.8`. */
    cuda?: string;
    memoryInUseBytes: number;
    /** Host processes that compute on it; those of a display server are none. */
    computeProcesses: number;
    usage: DeviceUsage;
  };

/** One vendor, one file. */
export type AcceleratorProbe = {
  vendor: Accelerator["vendor"];
  /** Null where the vendor's tool is not installed, which is a normal case. @throws ProbeFailedError when it is there and gives no whole answer */
  read(): Promise<Accelerator[] | null>;
};

/** A vendor's tool is there, but what it has can't be known: it fails, hangs, or says what is no description of its devices. */
export class ProbeFailedError extends Error {
  override readonly name = "ProbeFailedError";
  readonly code = "probe_failed";
  readonly tool: string;

  constructor(tool: string, why: string, options?: ErrorOptions) {
    super(`${tool} ${why}`, options);
    this.tool = tool;
  }
}
