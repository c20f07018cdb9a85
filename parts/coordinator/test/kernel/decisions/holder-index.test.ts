/** Whom the index names for a gang are those that a look at all holders names. */
import { checkProperty } from "@resontech/house/check-property";
import fc from "fast-check";
import t from "tap";
import { choose } from "../../../src/kernel/decisions/choose-workers.ts";
import { shapeOf } from "../../../src/kernel/decisions/gang-shapes.ts";
import { HolderIndex } from "../../../src/kernel/decisions/holder-index.ts";
import { mayLieOn } from "../../../src/kernel/decisions/may-lie-on.ts";
import type {
  PlacementNode,
  PlacementWorker,
  RunningGang,
  WaitingGang,
} from "../../../src/kernel/decisions/placement-facts.ts";
import { PlacementFleet } from "../../../src/kernel/decisions/placement-fleet.ts";
import {
  type Amounts,
  amountsOf,
  type Share,
  ShareLedger,
} from "../../../src/kernel/decisions/shares.ts";

const MODELS = ["cpu", "h100", "a100_80gb"];
const PROJECTS = ["project-0", "project-1", "project-2"];
const SHARES: Share[] = [
  { id: "project-0", parent: null, guarantee: { cpu: 1, h100: 1 }, limit: {}, weight: 1 },
  { id: "project-1", parent: null, guarantee: { a100_80gb: 2 }, limit: {}, weight: 1 },
];
const nodes: PlacementNode[] = ["a", "b", "c"].map((id, at) => ({
  ...{ id, ownerId: null, isReady: true, isCordoned: at === 2, hasDisk: true, gatewayPorts: at },
  ...{ freePorts: 1, capacityBytes: 16e9 * at, agentProtocol: 1 },
}));
const workers = fc.array(
  fc.record({
    node: fc.constantFrom(...nodes.map(({ id }) => id)),
    model: fc.constantFrom(...MODELS),
    memoryBytes: fc.constantFrom(8e9, 80e9),
    isHealthy: fc.constantFrom(true, true, false),
    isFree: fc.constantFrom(false, false, true),
  }),
  { minLength: 3, maxLength: 16 },
);
const holders = fc.array(
  fc.record({
    project: fc.constantFrom(...PROJECTS),
    priority: fc.constantFrom(10, 50, 100),
    workers: fc.uniqueArray(fc.nat(15), { minLength: 1, maxLength: 3 }),
    mayGo: fc.constantFrom(true, true, false),
  }),
  { maxLength: 8 },
);
const gang = fc.record({
  project: fc.constantFrom(...PROJECTS),
  priority: fc.constantFrom(10, 50, 100),
  size: fc.integer({ min: 1, max: 3 }),
  hubBytes: fc.constantFrom(null, 1e9),
  gpuModels: fc.constantFrom(null, ["h100"], ["a100_80gb", "cpu"]),
  estimatedMemoryMb: fc.constantFrom(null, 20_000),
  avoidNodes: fc.constantFrom([], [], ["a"]),
  isReached: fc.constantFrom(false, false, true),
});

t.test("who holds what a gang wants is found by rows and kinds as by a look at all", async () => {
  checkProperty(
    fc.property(workers, holders, fc.array(gang, { maxLength: 5 }), (facts, held, asked) => {
      const all = facts.map(
        (fact, at): PlacementWorker => ({
          ...{ id: `w-${at}`, ...fact, keptFor: null },
          device: fact.model === "cpu" ? { kind: "cpu" } : { kind: "gpu", vendor: "nvidia" },
        }),
      );
      const byId = new Map(all.map((worker) => [worker.id, worker]));
      const gangs = asked.map(
        ({ gpuModels, ...fact }, at): WaitingGang => ({
          ...{ job: `job-${at}`, sequence: at, isFurther: false, userId: "u", onlyMine: false },
          ...{ ...fact, images: null, runsMs: null, agentProtocol: 1 },
          selection: {
            ...{ kind: "auto", maxPriceCents: null },
            gpuModels: gpuModels === null ? null : [...gpuModels],
          },
        }),
      );
      const fleet = new PlacementFleet(nodes, all, gangs);
      const ledger = new ShareLedger(SHARES, amountsOf(all));
      const index = new HolderIndex(fleet);
      const running = held.map(
        ({ workers: ids, mayGo: _may, ...fact }, at): RunningGang => ({
          ...{ job: `held-${at}`, attempt: `held-${at}-a1`, userId: "u", isPreemptible: true },
          ...{ ...fact, workers: ids.map((id) => `w-${id}`), startedAt: 0, endsAt: null },
          ...{ committedAt: 0, preemptedAt: [] },
        }),
      );
      for (const [at, one] of running.entries()) index.add(one, held[at]!.mayGo);
      const amountsHeld = ({ workers: ids }: RunningGang) =>
        amountsOf(ids.flatMap((id) => byId.get(id) ?? []));
      for (const one of running) ledger.hold(one.project, amountsHeld(one));
      const sums = new ShareLedger(SHARES, amountsOf(all));
      for (const { project, amounts } of index.held()) sums.hold(project, amounts);
      for (const id of PROJECTS) same(inOrder(sums.held(id)), inOrder(ledger.held(id)));

      const left = new Set(running.filter((_, at) => held[at]!.mayGo));
      for (const one of gangs) {
        const serves = fleet.servesOnceFree(one);
        const serving = [...left].filter(({ workers: ids }) =>
          ids.some((id) => {
            const worker = byId.get(id);
            return worker !== undefined && !worker.isFree && serves(worker);
          }),
        );
        const named = (some: readonly { gang: RunningGang }[]) =>
          some.map(({ gang: { attempt } }) => attempt).toSorted();
        const borrows = (other: RunningGang) =>
          other.project !== one.project && ledger.borrows(other.project, amountsHeld(other));
        same(
          named(index.borrowers(one, shapeOf(one), ledger)),
          named(serving.filter(borrows).map((other) => ({ gang: other }))),
        );
        same(
          named(index.ofProject(one, shapeOf(one))),
          named(
            serving.filter(({ project }) => project === one.project).map((own) => ({ gang: own })),
          ),
        );
        const eligible = all.filter(serves);
        const homes = { ports: new Map([["a", 1]]), hasRoom: () => true, scoreOf: () => 1 };
        if (choose(one, eligible, homes) !== null && !mayLieOn(one, eligible))
          throw new Error("workers are chosen, and there are too few of them");
        const [gone] = left;
        if (gone === undefined) continue;
        left.delete(gone);
        index.remove([gone.attempt]);
        ledger.release(gone.project, amountsHeld(gone));
      }
    }),
    4_000,
  );
});

function inOrder(amounts: Amounts): [model: string, count: number][] {
  return Object.entries(amounts).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function same(found: unknown, wanted: unknown): void {
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    throw new Error(`${JSON.stringify(found)}, and not ${JSON.stringify(wanted)}`);
}
