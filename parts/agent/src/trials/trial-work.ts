import type { InventoryWorker } from "@resontech/contracts/agent-protocol";
import type { Work } from "../substrate/enclosure.ts";

const MIB = 1024 ** 2;
/** A first use of a device loads the vendor's libraries into memory, some gigabytes of them. */
const MEMORY_BYTES = { cpu: 1024 * MIB, gpu: 6 * 1024 * MIB } as const;

/** As a job's: torch begins a thread for each core of the host. */
const PIDS = 2048;

/** What a trial runs: as little as shows that a job of this image computes on this worker, in all that encloses a job. */
export function trialWork({ id, kind, vendor, memoryBytes }: InventoryWorker, image: string): Work {
  const name = `trial-${id}`;
  const memory = MEMORY_BYTES[kind];
  return {
    ...{ member: name, attempt: name, fence: { generation: 1, counter: 0 }, image },
    resources: {
      cpuMillis: 1_000,
      // A CPU slot's memory is the node's own.
      memoryBytes: kind === "cpu" ? Math.min(memory, memoryBytes) : memory,
      ...{ pids: PIDS, diskBytes: 256 * MIB, workers: [id] },
    },
    payload: {
      command: ["python3", "-u", "/rt/runner/trial.py", vendor ?? "cpu"],
      ...{
        environment: {},
        files: [],
        certificates: null,
        network: { shape: "closed" },
        sites: [],
      },
      outputs: { logs: [], printed: null, models: null, files: null, checkpoints: false },
    },
    inputs: [],
  };
}
