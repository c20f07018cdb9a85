/** Gangs that make way for nobody while their project is guaranteed what they hold. */
import type { PlacementWorker, RunningGang, WaitingGang } from "./placement-facts.ts";
import { PlacementFleet } from "./placement-fleet.ts";
import type { Snapshot } from "./placement.ts";
import { amountsOf, pathOf, type Share, ShareLedger } from "./shares.ts";

/**
 * Of the gangs that stay while they are within a guarantee those that are: the oldest first, as if they were all that runs. So what a project borrows
 * beside them takes nothing from them, and a guarantee that became smaller leaves out the newest. Pure.
 */
export function guaranteedGangs(
  running: readonly RunningGang[],
  shares: readonly Share[],
  workers: ReadonlyMap<string, PlacementWorker>,
): Set<RunningGang> {
  const guaranteed = new Set<RunningGang>();
  const staying = running.filter(({ staysGuaranteed }) => staysGuaranteed === true);
  if (staying.length === 0) return guaranteed;
  const ledger = new ShareLedger(shares, {});
  for (const gang of staying.toSorted(byAge)) {
    const amounts = amountsOf(gang.workers.flatMap((id) => workers.get(id) ?? []));
    if (!ledger.isGuaranteed(gang.project, amounts)) continue;
    ledger.hold(gang.project, amounts);
    guaranteed.add(gang);
  }
  return guaranteed;
}

/** Whether some share on the way up guarantees as many workers as the gang takes, of models that serve it, whoever holds them now. */
export function mayBeGuaranteed(
  { nodes, workers }: Pick<Snapshot, "nodes" | "workers">,
  gang: WaitingGang,
  shares: readonly Share[],
): boolean {
  const judged = new PlacementFleet(nodes, workers, [gang]).judge(gang);
  const models = new Set(
    judged.flatMap(({ worker, never }) => (never === null ? [worker.model] : [])),
  );
  // What nothing serves is told so in other words.
  if (models.size === 0) return true;
  const path = pathOf(new Map(shares.map((share) => [share.id, share])), gang.project);
  return path.some(({ guarantee }) => {
    const most = [...models].reduce((sum, model) => sum + (guarantee[model] ?? 0), 0);
    return most >= gang.size;
  });
}

function byAge(a: RunningGang, b: RunningGang): number {
  return a.startedAt - b.startedAt || (a.attempt < b.attempt ? -1 : 1);
}
