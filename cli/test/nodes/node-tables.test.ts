import type { NodeDetailReply } from "@resontech/contracts/http-nodes";
import t from "tap";
import { tableOfNodes, tablesOfNode } from "../../src/nodes/node-tables.ts";
import { asTable } from "../../src/table.ts";

const node: NodeDetailReply["node"] = {
  ...{ node: "ward-7", state: "READY", workers: 2, busy: 1, silentS: null, freeBytes: null },
  drained: "drained by an administrator",
};
const worker: NodeDetailReply["workers"][number] = {
  ...{ worker: "gpu-GPU-5a1f", model: "h100_80gb", memoryBytes: 80 * 1024 ** 3, unfit: null },
  ...{ architecture: "sm_90", driver: "580.65.06", pciAddress: null, numaNode: 0 },
  ...{ grade: null, shortOf: [], use: null },
};

t.test("a node says why it takes no work, in 80 columns", async (t) => {
  const { head, rows } = tableOfNodes([node]);
  t.same(rows, [["ward-7", "ready", "1 of 2", "-", "not yet", "drained by an administrator"]]);
  t.ok(
    asTable(head, rows, 80)
      .split("\n")
      .every((line) => line.length <= 80),
  );
});

t.test("one node is shown with its workers and members, as far as it has any", async (t) => {
  t.equal(tablesOfNode({ node, workers: [], members: [] }).length, 1);
  const members: NodeDetailReply["members"] = [
    {
      job: "job-1",
      role: "client",
      site: "site-1",
      worker: worker.worker,
      workers: [worker.worker, "gpu-1"],
      state: "RUNNING",
    },
    { job: "job-1", role: "server", site: null, worker: null, workers: [], state: "RUNNING" },
  ];
  const [, workers, running] = tablesOfNode({ node, workers: [worker], members });
  t.same(workers?.rows, [["gpu-GPU-5a1f", "h100_80gb", "80.0 GiB", "-", "580.65.06", ""]]);
  t.same(running?.rows, [
    ["job-1", "site-1", "running", "gpu-GPU-5a1f, gpu-1"],
    ["job-1", "server", "running", "-"],
  ]);
});
