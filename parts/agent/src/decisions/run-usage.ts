/** What a container uses. What counts up counts from its start. What the substrate does not know is absent, never 0. */
export type RunUsage = {
  /** Of all processors together. */
  cpuMs?: number;
  /** What can't be given back: without files that are only cached. */
  memoryBytes?: number;
  memoryPeakBytes?: number;
  memoryLimitBytes?: number;
  diskReadBytes?: number;
  diskWrittenBytes?: number;
  networkReceivedBytes?: number;
  networkSentBytes?: number;
};
