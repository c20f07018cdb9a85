import t from "tap";
import { rankPlaces } from "../../../src/workloads/distributed/rank-places.ts";

const CATALOGUE = [
  { id: "cpu", kind: "cpu" },
  { id: "h100", kind: "gpu" },
  { id: "rtx_5090", kind: "gpu" },
] as const;
const SLOTS = [
  { id: "a-0", kind: "cpu" },
  { id: "b-0", kind: "cpu" },
] as const;
const FLEET = [...SLOTS, { id: "a-1", kind: "gpu" }] as const;

t.test(
  "where there are no accelerators each rank is a member on a slot of processors",
  async (t) => {
    t.same(rankPlaces({ workers: 2 }, SLOTS, CATALOGUE), {
      ...{ workersPerMember: 1, members: 2, gpuModels: ["cpu"] },
    });
  },
);

t.test("on accelerators all ranks are one member, so that they reach one another", async (t) => {
  t.same(rankPlaces({ workers: 2 }, FLEET, CATALOGUE), {
    ...{ workersPerMember: 2, members: 1, gpuModels: ["h100", "rtx_5090"] },
  });
  t.same(rankPlaces({ workers: 4, gpuModels: ["h100"] }, SLOTS, CATALOGUE), {
    ...{ workersPerMember: 4, members: 1 },
  });
});

t.test("several ranks a member are whole members", async (t) => {
  t.same(rankPlaces({ workers: 4, workersPerMember: 2, gpuModels: ["cpu"] }, FLEET, CATALOGUE), {
    ...{ workersPerMember: 2, members: 2 },
  });
});

const BAD: [what: string, asked: Parameters<typeof rankPlaces>[0], says: RegExp][] = [
  ["a part of a member", { workers: 3, workersPerMember: 2 }, /no multiple/],
  [
    "accelerators of several nodes",
    { workers: 4, workersPerMember: 2, gpuModels: ["h100"] },
    /workersPerMember must be workers/,
  ],
  ["pinned ones apart", { workers: 2, workersPerMember: 1, workerIds: ["a-1"] }, /one node/],
  ["two kinds", { workers: 2, gpuModels: ["cpu", "h100"] }, /on processors and on accelerators/],
  ["two pinned kinds", { workers: 2, workerIds: ["a-0", "a-1"] }, /on processors and on/],
  ["more than a bridge leads", { workers: 17, gpuModels: ["cpu"] }, /16 at most/],
];
t.test("what ranks can't be is told before anything is read", async (t) => {
  for (const [what, asked, message] of BAD)
    t.throws(
      () => rankPlaces(asked, FLEET, CATALOGUE),
      { code: "validation_failed", message },
      what,
    );
});
