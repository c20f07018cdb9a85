import t from "tap";
import { workerTable } from "../../src/node/decisions/worker-table.ts";

const workers = [
  { id: "gpu-2-0", kind: "gpu", model: "h100", healthy: true },
  { id: "gpu-2-1", kind: "gpu", model: "h100", healthy: false },
] as const;

t.test("a worker is good when its device is healthy and the node ran a container", async (t) => {
  t.match(workerTable(workers, null), [
    { worker: "gpu-2-0", device: "gpu h100", isGood: true, why: "" },
    { worker: "gpu-2-1", isGood: false, why: /device/ },
  ]);
});

t.test("no worker is good on a node where the container failed, and each says why", async (t) => {
  t.match(workerTable(workers, "it can't be pulled"), [
    { isGood: false, why: "it can't be pulled" },
    { isGood: false, why: /device/ },
  ]);
});

t.test("where no container was tried, the device's health alone decides", async (t) => {
  t.match(workerTable(workers, undefined), [{ isGood: true }, { isGood: false }]);
});
