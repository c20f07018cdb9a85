import type { MemberEvent } from "@resontech/contracts/agent-protocol";
import t from "tap";
import { chooseEvents, INITIAL_TOLD } from "../../src/decisions/told-events.ts";

const SITES = ["site-1", "site-2"];
const started = (round: number): MemberEvent => ({ kind: "round-started", round, numRounds: null });
const ended = (round: number, sites = SITES): MemberEvent => ({
  kind: "round-ended",
  round,
  sites,
});

t.test("what an honest runner says is told whole, however it is cut", (t) => {
  const said: MemberEvent[] = [
    { kind: "ready" },
    { kind: "job-started", nvflareJob: "j" },
    started(0),
    { kind: "metric", site: "site-1", value: "{}" },
    ended(0),
    started(1),
    ended(1),
  ];
  const first = chooseEvents(said.slice(0, 4), INITIAL_TOLD, SITES);
  const rest = chooseEvents(said.slice(4), first.told, SITES);
  t.strictSame([...first.chosen, ...rest.chosen], said);
  t.strictSame(rest.told, { metrics: 1, others: 6, warnings: 0, startedRound: 1, endedRound: 1 });
  t.end();
});

t.test("of how a replica stands the last word is told, once, and however often it changes", (t) => {
  const standing = (as: "well" | "stalled", order = 0): MemberEvent => ({
    ...{ kind: "standing", standing: as, order },
  });
  const flood = Array.from({ length: 50_001 }, (_, at) => standing(at % 2 ? "well" : "stalled"));
  const first = chooseEvents(flood, INITIAL_TOLD, SITES);
  t.strictSame(first.chosen, [standing("stalled")]);
  const again = chooseEvents([standing("well"), standing("stalled")], first.told, SITES);
  t.strictSame(again.chosen, []);
  const later = chooseEvents([standing("stalled", 1)], again.told, SITES);
  t.strictSame(later.chosen, [standing("stalled", 1)], "after another wish it is news");
  t.equal(later.told.others, 0);
  t.end();
});

t.test("a round that was told is not told again, nor one with more sites than the job has", (t) => {
  const { told } = chooseEvents([started(3), ended(3)], INITIAL_TOLD, SITES);
  t.strictSame(
    chooseEvents([started(3), started(2), ended(3), ended(4, [...SITES, "site-3"])], told, SITES),
    {
      chosen: [],
      told,
    },
  );
  t.end();
});

t.test("a runner that never ends to tell is heard to a limit, metrics by themselves", (t) => {
  const rounds = Array.from({ length: 30_000 }, (_, round) => started(round));
  const { chosen, told } = chooseEvents(rounds, INITIAL_TOLD, SITES);
  t.equal(chosen.length, 20_000);
  const metrics = Array.from(
    { length: 100_001 },
    (): MemberEvent => ({ kind: "metric", site: "site-1", value: "1" }),
  );
  t.equal(chooseEvents(metrics, told, SITES).chosen.length, 100_000);
  t.end();
});

t.test("warnings have a limit of their own, also beside a record that knew none", (t) => {
  const warnings = Array.from(
    { length: 20_001 },
    (): MemberEvent => ({ kind: "warning", site: "site-1", topic: "t", text: "x" }),
  );
  const { warnings: _, ...before } = INITIAL_TOLD;
  t.equal(chooseEvents(warnings, before, SITES).chosen.length, 20_000);
  t.end();
});
