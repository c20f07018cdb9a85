import t from "tap";
import { parametersReply } from "../../../src/http/decisions/parameters-reply.ts";
import type { StoredTask } from "../../../src/kernel/stored-tasks.ts";
import type { DistributedJobSpec } from "../../../src/workloads/distributed/distributed.ts";

const SPEC: DistributedJobSpec = {
  ...{ script: "train.py", arguments: ["--epochs=3"], environment: {}, ranks: 8 },
  ...{ strategy: "fsdp", workers: 4 },
};
const TASK = {
  ...{ kind: "distributed", spec: SPEC, name: "study", images: [], inputs: [] },
  selection: { kind: "auto", gpuModels: null, maxPriceCents: null },
  ...{ onlyMine: false, estimatedMemoryMb: null, timeLimitMs: null, numRounds: null },
  minClients: 2,
} as unknown as StoredTask;

t.test(
  "of one script as several ranks it is told how many, in what members, and how they share",
  async (t) => {
    t.match(parametersReply(TASK, "p", null), {
      ...{ kind: "distributed", ranks: 8, workersPerMember: 4, strategy: "fsdp" },
      arguments: ["--epochs=3"],
    });
  },
);

t.test("a job of another kind has no ranks", async (t) => {
  const spec = { script: "train.py", arguments: [], environment: {} };
  t.match(parametersReply({ ...TASK, kind: "command", spec }, "p", null), {
    ...{ ranks: null, strategy: null, workersPerMember: 1 },
  });
  t.match(parametersReply({ ...TASK, kind: "federation", spec: null }, "p", null), {
    ...{ ranks: null, strategy: null },
  });
});
