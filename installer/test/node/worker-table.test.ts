import t from "tap";
import { workerTable } from "../../src/node/decisions/worker-table.ts";

const memoryBytes = 1;
const gpu = { kind: "gpu", model: "h100", memoryBytes } as const;
const image = "box:5000/resontech/fl-cuda13@sha256:aa";

t.test("a worker is good when its device is healthy and a job image did its work on it", (t) => {
  const reason = "its trial failed: torch finds 0 devices";
  const workers = [
    { id: "n-0", ...gpu, healthy: true },
    { id: "n-1", ...gpu, healthy: false, reason },
    { id: "n-2", ...gpu, healthy: false },
    { id: "n-3", ...gpu, vendor: "amd" as const, healthy: true },
  ];
  const trials = [
    { worker: "n-0", state: "passed" as const, why: null, image },
    { worker: "n-1", state: "failed" as const, why: "torch finds 0 devices", image },
    { worker: "n-3", state: "none" as const, why: "of a vendor that no image is for", image: null },
  ];
  t.match(workerTable({ workers, trials }), [
    { worker: "n-0", device: "gpu h100", isGood: true, image, why: "" },
    { worker: "n-1", isGood: false, image, why: reason },
    { worker: "n-2", isGood: false, image: null, why: /does not answer/ },
    {
      worker: "n-3",
      isGood: false,
      image: null,
      why: /^no job image is for it: it is one of a vendor/,
    },
  ]);
  t.end();
});

t.test("with an appliance that knows no trials the device's health alone decides", (t) => {
  const workers = [{ id: "n-0", ...gpu, healthy: true }];
  t.match(workerTable({ workers }), [{ isGood: true, image: null }]);
  t.end();
});
