import { GPU_CATALOGUE } from "@resontech/contracts/gpu-catalogue";
import { OPTIMIZERS, PRECISIONS } from "@resontech/contracts/http-advice";
import { checkProperty } from "@resontech/house/check-property";
import fc from "fast-check";
import t from "tap";
import { modelShapeOf } from "../../../../src/workloads/distributed/decisions/known-shapes.ts";
import {
  type AdviceFacts,
  adviseTraining,
} from "../../../../src/workloads/distributed/decisions/training-advice.ts";
import type { Training } from "../../../../src/workloads/distributed/decisions/training-memory.ts";

const CATALOGUE: AdviceFacts["catalogue"] = GPU_CATALOGUE.map(({ id, name, vendor, memoryMb }) => ({
  ...{ id, name, memoryMb },
  kind: vendor === null ? "cpu" : "gpu",
}));
const H100_MB = 81_559;

/** @param each so many workers of each node */
function fleet(model: string, each: readonly number[], totalMemoryMb: number) {
  return each.flatMap((count, node) =>
    Array.from({ length: count }, () => ({
      ...{ node: `node-${node}`, model, totalMemoryMb },
      status: "free" as const,
    })),
  );
}
const advise = (parameters: number, facts: Partial<AdviceFacts>, over: Partial<Training> = {}) =>
  adviseTraining(
    {
      ...{ parameters, precision: "mixed", optimizer: "adam", sequence: 4096 },
      ...{ shape: modelShapeOf(parameters, {}), ...over },
    },
    {
      ...{ workers: [], catalogue: CATALOGUE, named: null, gpus: null, hasDeepspeed: false },
      ...facts,
    },
  );
const h100s = (...each: number[]) => ({ workers: fleet("h100", each, H100_MB) });

t.test("each row of the table is found by what one device, and all of them, hold", async (t) => {
  const [small] = advise(1.3e9, h100s(8)).devices;
  t.match(small, { row: "one-gpu", advised: { strategy: "ddp", workers: 8 } });
  const [larger] = advise(7e9, h100s(8)).devices;
  t.match(larger, { row: "several-gpus", advised: { strategy: "fsdp", workers: 8 } });
  const huge = advise(70e9, { workers: fleet("b300", [8], 275_040) });
  t.match(huge, { rowBySize: "very-large", devices: [{ row: "very-large" }] });
  t.same(huge.devices[0]?.advised, { strategy: "fsdp", workers: 8 });
  t.match(advise(30e9, h100s(1)).devices, [
    {
      row: null,
      why: /One lacks .* Divided among 1 each still lacks .* would hold it/,
      advised: null,
    },
  ]);
});

t.test("what does not fit is said with how much is missing, and nothing is advised", async (t) => {
  const [device] = advise(70e9, h100s(8)).devices;
  t.match(device, {
    ...{ row: "very-large", advised: null },
    advisedWhy: "Even divided among 8 each lacks 72.2 GiB; 18 would hold it.",
  });
  t.ok(device?.estimates.every(({ fits, missingBytes }) => fits === "no" && missingBytes > 0));
});

t.test("GPUs of several nodes count for the table, and not for a job here", async (t) => {
  const [apart] = advise(20e9, h100s(2, 2, 2, 2)).devices;
  t.match(apart, {
    ...{ row: "several-gpus", online: 8, mostOnOneNode: 2, advised: null },
    advisedWhy: /Of 8 here 2 are on one node, and ranks on GPUs of several nodes don't reach/,
  });
  t.match(advise(20e9, { ...h100s(2, 8) }).devices[0]?.advised, { workers: 8 });
});

t.test("a fleet without GPUs is told that the table alone advises for them", async (t) => {
  const found = advise(350e6, { workers: fleet("cpu", [2, 2], 16_000) });
  t.match(found.notes[0], /for GPUs the table alone advises/);
  t.match(found.devices, [
    { kind: "cpu", row: null, advised: { strategy: "ddp", workers: 4 }, online: 4 },
  ]);
  t.same(
    found.table.map(({ row, from, to }) => [row, from, to]),
    [
      ["one-gpu", 1, 8],
      ["several-gpus", 4, 64],
      ["very-large", 8, 128],
    ],
  );
  t.same(advise(7e9, {}).devices, [], "an appliance without nodes");
  const both = { workers: [...fleet("cpu", [2], 16_000), ...h100s(2).workers], named: ["cpu"] };
  t.notMatch(advise(350e6, both).notes.join("\n"), /the table alone/, "processors by name");
});

t.test(
  "a model that is named and not here has its row by the catalogue, and nothing to ask for",
  async (t) => {
    const [found, ...others] = advise(7e9, {
      workers: fleet("cpu", [2], 16_000),
      named: ["h100"],
    }).devices;
    t.same(others, []);
    t.match(found, {
      ...{ row: "several-gpus", isOfSite: false, memoryMb: H100_MB, advised: null },
      advisedWhy: "No such device is online here.",
    });
    t.equal(found?.estimates[0]?.devices, 4, "the fewest that the table names");
  },
);

t.test("workers that nobody can use now are not counted", async (t) => {
  const workers = h100s(8).workers.map((one, at) => ({
    ...one,
    status: at < 6 ? ("unavailable" as const) : ("busy" as const),
  }));
  t.match(advise(1.3e9, { workers }).devices, [{ online: 2, advised: { workers: 2 } }]);
});

t.test(
  "a number that is supposed is estimated, and refused where one node has fewer",
  async (t) => {
    const [many] = advise(7e9, { ...h100s(8), gpus: 16 }).devices;
    t.match(many, { advised: null, advisedWhy: /16 were asked about, and one node here has 8/ });
    t.ok(many?.estimates.every(({ devices }) => devices === 16));
    t.match(advise(7e9, { ...h100s(8), gpus: 4 }).devices[0]?.advised, {
      ...{ strategy: "fsdp", workers: 4 },
    });
  },
);

t.test("where DDP's buckets don't fit FSDP is advised, and it is said why", async (t) => {
  const [tight] = advise(4.4e9, h100s(4), { sequence: 128 }).devices;
  t.match(tight, {
    ...{ row: "one-gpu", advised: { strategy: "fsdp", workers: 4 } },
    advisedWhy: /gradients don't fit twice/,
  });
});

t.test("what is unknown is said, and what is assumed too", async (t) => {
  const notes = (found: { notes: string[] }) => found.notes.join("\n");
  t.match(notes(advise(7e9, h100s(8), { sequence: null })), /are unknown: no length of a sequence/);
  t.match(notes(advise(1e6, h100s(8))), /are unknown: no published model is about so large/);
  t.match(notes(advise(7e9, h100s(8))), /are assumed, as GPT-3 6.7B has them/);
  const named = modelShapeOf(7e9, { layers: 2, hidden: 64, heads: 1 });
  t.match(notes(advise(7e9, h100s(8), { shape: named })), /see whether both are of one model/);
  t.notMatch(notes(advise(7e9, h100s(8), { shape: named })), /assumed/);
  t.match(notes(advise(7e9, h100s(8))), /No job image here has the package deepspeed/);
  t.notMatch(notes(advise(7e9, { ...h100s(8), hasDeepspeed: true })), /No job image here/);
});

t.test("what is advised fits by the estimate, and a job here can have it", async () => {
  const models = fc.constantFrom(...CATALOGUE);
  checkProperty(
    fc.property(
      fc.integer({ min: 1, max: 1e12 }),
      fc.constantFrom(...PRECISIONS),
      fc.constantFrom(...OPTIMIZERS),
      fc.option(fc.integer({ min: 1, max: 100_000 })),
      models,
      fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 4 }),
      fc.option(fc.integer({ min: 1, max: 256 })),
      (parameters, precision, optimizer, sequence, model, each, gpus) => {
        const workers = fleet(model.id, each, Math.max(model.memoryMb, 4_000));
        const found = advise(
          parameters,
          { workers, gpus, named: [model.id] },
          { precision, optimizer, sequence },
        );
        return found.devices.every(({ advised, estimates, kind, mostOnOneNode, online, row }) => {
          if (kind === "cpu" && row !== null) return false;
          if (advised === null) return true;
          const { fits, devices } = estimates.find(
            ({ sharding }) => sharding === advised.strategy,
          )!;
          const most = kind === "gpu" ? mostOnOneNode : Math.min(16, online);
          return fits !== "no" && devices === advised.workers && advised.workers <= most;
        });
      },
    ),
    3_000,
  );
});
