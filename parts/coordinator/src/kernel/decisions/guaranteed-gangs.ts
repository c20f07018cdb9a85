/** Gangs that make way for nobody while their project is guaranteed what they hold. */
import type { PlacementWorker, RunningGang } from "./placement-facts.ts";
import { amountsOf, type Share, ShareLedger } from "./shares.ts";

/**
 * Of the gangs that stay while they are within a guarantee those that are: the oldest first, as if they were all that runs. So what a project borrows
 * beside them takes nothing from them, and a guarantee that became smaller leaves out the newest. Pure.
 */
export function guaranteedGangs(
  running: readonly RunningGang[],
  shares: readonly Share[],
  workers: Pick<ReadonlyMap<string, PlacementWorker>, "get">,
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

function byAge(a: RunningGang, b: RunningGang): number {
  return a.startedAt - b.startedAt || (a.attempt < b.attempt ? -1 : 1);
}
