import type { PlacementWorker, WaitingGang } from "./placement-facts.ts";
import { rankOf } from "./choose-workers.ts";

/** The models among workers, in the order in which the gang prefers them. */
export function modelsInOrder(gang: WaitingGang, workers: readonly PlacementWorker[]): string[] {
  const rank = rankOf(gang.selection);
  const firsts = new Map<string, PlacementWorker>();
  for (const worker of workers) if (!firsts.has(worker.model)) firsts.set(worker.model, worker);
  return [...firsts.values()]
    .toSorted((a, b) => rank(a) - rank(b) || (a.model < b.model ? -1 : 1))
    .map(({ model }) => model);
}

/** The gang, with these models alone; it is asked for in its name still. */
export function ofModels(gang: WaitingGang, models: readonly string[]): WaitingGang {
  const { selection } = gang;
  if (selection.kind !== "auto") return gang;
  return { ...gang, selection: { ...selection, gpuModels: [...models] } };
}
