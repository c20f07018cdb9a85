import type { PlacementWorker, WaitingGang } from "./placement-facts.ts";
import { type ScoreOf, scoredRankOf } from "./choose-workers.ts";

/** The models among workers, in the order in which the gang prefers them: each by its best. */
export function modelsInOrder(
  gang: WaitingGang,
  workers: readonly PlacementWorker[],
  scoreOf: ScoreOf,
): string[] {
  const rank = scoredRankOf(gang.selection, scoreOf);
  const best = new Map<string, number>();
  for (const worker of workers)
    best.set(worker.model, Math.min(best.get(worker.model) ?? Infinity, rank(worker)));
  return [...best]
    .toSorted(([a, mine], [b, theirs]) => mine - theirs || (a < b ? -1 : 1))
    .map(([model]) => model);
}

/** The gang, with these models alone; it is asked for in its name still. */
export function ofModels(gang: WaitingGang, models: readonly string[]): WaitingGang {
  const { selection } = gang;
  if (selection.kind !== "auto") return gang;
  return { ...gang, selection: { ...selection, gpuModels: [...models] } };
}
