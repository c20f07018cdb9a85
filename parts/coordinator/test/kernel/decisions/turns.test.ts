/** A heap of projects that are looked at again where they stand otherwise gives the turns that a look at all of them gives. */
import { checkProperty } from "@resontech/house/check-property";
import fc from "fast-check";
import t from "tap";
import type { WaitingGang } from "../../../src/kernel/decisions/placement-facts.ts";
import {
  type Amounts,
  compareStandings,
  type Share,
  ShareLedger,
} from "../../../src/kernel/decisions/shares.ts";
import { ShareTurns } from "../../../src/kernel/decisions/turns.ts";

const MODELS = ["cpu", "gpu"];
const PROJECTS = ["project-0", "project-1", "project-2", "project-3"];

/** One object for as many of one model. */
const DEMANDS: Readonly<Record<string, readonly Amounts[]>> = Object.fromEntries(
  MODELS.map((model) => [model, [0, 1, 2, 3].map((count) => ({ [model]: count }))]),
);

const amounts = fc
  .tuple(fc.nat(4), fc.nat(4))
  .map(([cpu, gpu]): Amounts => ({ ...(cpu > 0 && { cpu }), ...(gpu > 0 && { gpu }) }));
const shares = fc
  .array(fc.tuple(amounts, fc.constantFrom(1, 2, 5), fc.constantFrom("team", "other", null)), {
    ...{ minLength: PROJECTS.length, maxLength: PROJECTS.length },
  })
  .map((facts): Share[] => [
    { id: "team", parent: null, guarantee: { cpu: 3 }, limit: {}, weight: 1 },
    { id: "other", parent: null, guarantee: {}, limit: {}, weight: 2 },
    ...facts.map(([guarantee, weight, parent], at) => ({
      ...{ id: PROJECTS[at]!, parent, guarantee, limit: {}, weight },
    })),
  ]);
const gangs = fc
  .array(
    fc.record({
      project: fc.constantFrom(...PROJECTS),
      priority: fc.constantFrom(10, 50, 100),
      before: fc.constantFrom(undefined, 0, 1),
      size: fc.integer({ min: 1, max: 3 }),
      model: fc.constantFrom(...MODELS),
    }),
    { maxLength: 25 },
  )
  .chain((some) =>
    fc.shuffledSubarray([...some.keys()], { minLength: some.length }).map((order) =>
      some.map(({ model, ...facts }, at) => ({
        gang: { ...facts, job: `job-${at}`, sequence: order[at]! } as WaitingGang,
        demand: DEMANDS[model]![facts.size]!,
      })),
    ),
  );
/** What follows a turn: nothing, the gang is placed, somebody else lets go, or those like it need no turn any more. */
const outcomes = fc.array(
  fc.tuple(
    fc.constantFrom("nothing", "placed", "freed", "closed"),
    fc.constantFrom(...PROJECTS),
    amounts,
  ),
  { minLength: 25, maxLength: 25 },
);

t.test("each turn is that of a look at all projects, whatever was held and let go", async () => {
  checkProperty(
    fc.property(shares, gangs, outcomes, (all, waiting, following) => {
      const demands = new Map(waiting.map(({ gang, demand }) => [gang, demand]));
      const closed = new Set<string>();
      const classOf = ({ project, priority, size }: WaitingGang) =>
        `${project} ${priority} ${size}`;
      const isOver = (gang: WaitingGang) => closed.has(classOf(gang));
      const demandOf = (gang: WaitingGang) => demands.get(gang)!;
      const ledger = new ShareLedger(all, { cpu: 20, gpu: 20 });
      const turns = new ShareTurns([...demands.keys()], ledger, demandOf, isOver);
      const left = new Set(demands.keys());
      for (const [kind, project, freed] of [...following, ["nothing", "", {}] as const]) {
        const expected = plainTurn([...left], { ledger, demandOf, isOver });
        const gang = turns.next();
        if (gang !== expected) throw new Error(`${gang?.job} came, and not ${expected?.job}`);
        if (gang === null) return;
        left.delete(gang);
        if (kind === "placed") ledger.hold(gang.project, demandOf(gang));
        if (kind === "freed") ledger.release(project, freed);
        if (kind === "closed") closed.add(classOf(gang));
      }
    }),
    4_000,
  );
});

/** Each project's first gang that needs a turn, and of these the one whose project stands lowest with it. */
function plainTurn(
  gangs: readonly WaitingGang[],
  {
    ledger,
    demandOf,
    isOver,
  }: {
    ledger: ShareLedger;
    demandOf: (gang: WaitingGang) => Amounts;
    isOver: (gang: WaitingGang) => boolean;
  },
): WaitingGang | null {
  const inProject = (a: WaitingGang, b: WaitingGang) =>
    b.priority - a.priority || (a.before ?? 0) - (b.before ?? 0) || a.sequence - b.sequence;
  const heads = [...Map.groupBy(gangs, ({ project }) => project).values()].flatMap(
    (queue) => queue.toSorted(inProject).find((gang) => !isOver(gang)) ?? [],
  );
  const standing = (gang: WaitingGang) => ledger.standingOf(gang.project, demandOf(gang));
  return (
    heads.toSorted((a, b) => compareStandings(standing(a), standing(b)) || inProject(a, b))[0] ??
    null
  );
}
