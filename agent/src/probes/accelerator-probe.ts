import type { InventoryWorker } from "@resontech/contracts/agent-protocol";

/** One accelerator as its vendor's tool describes it. */
export type Accelerator = Required<Pick<InventoryWorker, "model" | "memoryBytes" | "device" | "vendor" | "healthy">> & {
  memoryInUseBytes: number;
  /** Host processes that compute on it; those of a display server are none. */
  computeProcesses: number;
};

/** One vendor, one file. */
export type AcceleratorProbe = {
  vendor: Accelerator["vendor"];
  /** Null where the vendor's tool is not installed, which is a normal case. @throws when it is there and does not answer */
  read(): Promise<Accelerator[] | null>;
};
