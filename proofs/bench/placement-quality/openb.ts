/** The trace of a production cluster (alibaba/clusterdata, cluster-trace-gpu-v2023; Weng et al., USENIX ATC 2023), read from where it was put. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export type TraceNode = { id: string; model: string; gpus: number };

/** @property tasks GPUs that each task takes: a part of one counts whole, as the appliance gives out whole ones; tasks without a GPU are left out */
export type Trace = { nodes: TraceNode[]; tasks: number[] };

export function readOpenb(folder: string): Trace {
  const rows = (file: string) => {
    const [head = "", ...lines] = readFileSync(join(folder, file), "utf8").trim().split("\n");
    const names = head.split(",");
    return lines.map((line) => {
      const values = line.split(",");
      return Object.fromEntries(names.map((name, at) => [name, values[at] ?? ""]));
    });
  };
  const nodes = rows("nodes.csv").map(({ sn = "", model = "", gpu }) => ({
    ...{ id: sn, model, gpus: Number(gpu) },
  }));
  const tasks = rows("pods.csv")
    .map(({ num_gpu: gpus }) => Number(gpus))
    .filter((gpus) => gpus > 0);
  if (nodes.length === 0 || tasks.length === 0) throw new Error(`${folder} holds no trace`);
  return { nodes, tasks };
}
