import type { DeviceFacts } from "@resontech/contracts/image-needs";

export type WorkerView = {
  id: string;
  node: string;
  model: string;
  kind: "gpu" | "cpu";
  /** What decides which image runs on it. */
  device: DeviceFacts;
  totalMemoryMb: number;
  /** 0 while the worker is held. */
  freeMemoryMb: number;
  priceCents: number;
  status: "free" | "busy" | "unavailable";
};
/** `onlineCount` counts workers of ready nodes, held ones included. */
export type WorkersStats = {
  onlineCount: number;
  totalFreeMemoryMb: number;
  workers: WorkerView[];
};

export type FleetModel = {
  /** Catalogue id, `rtx_5090`, `cpu`. */
  id: string;
  name: string;
  kind: "gpu" | "cpu";
  memoryMb: number;
  pricePerHourCents: number;
  /** Workers of this model on ready nodes, and how many of them are free. */
  online: number;
  free: number;
};

/** Counts for the operator. */
export type FleetStatus = {
  jobs: Record<string, number>;
  nodes: { node: string; state: string; workers: number }[];
  generation: number;
};
