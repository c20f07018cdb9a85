import type { WaitingGang } from "./placement-facts.ts";
import { PlacementFleet } from "./placement-fleet.ts";
import type { Snapshot } from "./placement.ts";
import { pathOf, type Share } from "./shares.ts";

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
