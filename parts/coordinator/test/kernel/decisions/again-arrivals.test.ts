import t from "tap";
import { arrivalsAgain } from "../../../src/kernel/decisions/again-arrivals.ts";
import type { WaitingGang } from "../../../src/kernel/decisions/placement-facts.ts";

const gang = (job: string): WaitingGang => ({
  ...{ job, project: "p", sequence: 1, userId: "u", size: 1, runsMs: 1_000 },
  ...{ isFurther: false, priority: 50, onlyMine: false, estimatedMemoryMb: null, hubBytes: 0 },
  ...{ avoidNodes: [], agentProtocol: 1, isReached: false, images: null },
  selection: { kind: "auto", gpuModels: null, maxPriceCents: null },
});
const CAME = [
  { at: 110, gang: gang("a"), ranMs: 7 },
  { at: 150, gang: gang("b"), ranMs: null },
];
const again = (change: Partial<Parameters<typeof arrivalsAgain>[1]>, came = CAME) =>
  arrivalsAgain(came, {
    ...{ since: 100, now: 200, turn: 0, horizonMs: 200, isKept: () => true },
    ...change,
  });
const told = (change: Partial<Parameters<typeof arrivalsAgain>[1]>) =>
  again(change).map(({ at, gang: { job } }) => [at, job]);

t.test("what came comes again, as often as the time ahead is long", async (t) => {
  t.same(told({}), [
    [210, "a again 0"],
    [250, "b again 0"],
    [310, "a again 1"],
    [350, "b again 1"],
  ]);
});

t.test("a future may begin at another moment of what was, and leave some out", async (t) => {
  t.same(told({ turn: 0.25, horizonMs: 100 }), [
    [225, "b again 0"],
    [285, "a again 1"],
  ]);
  t.same(told({ isKept: (job) => job.startsWith("b") }), [
    [250, "b again 0"],
    [350, "b again 1"],
  ]);
});

t.test("they come after all that wait, in the order in which they come", async (t) => {
  const gangs = again({}).map((one) => one.gang);
  t.ok(gangs.every(({ sequence }) => sequence > 2 ** 50));
  t.ok(gangs.every(({ sequence }, n) => n === 0 || sequence > gangs[n - 1]!.sequence));
  t.same(
    gangs.map(({ waitingSince }) => waitingSince),
    again({}).map(({ at }) => at),
  );
});

t.test("nothing is known of no time, and of nobody", async (t) => {
  t.same(again({ now: 100 }), []);
  t.same(again({}, []), []);
});
