/** Why a job's members are where they are, a sentence each. Pure. */
import type { WorkerSelection } from "../accepted-task.ts";
import { priceCents } from "./worker-filter.ts";

export type PlacedWorker = { worker: string; node: string; model: string };

export function whyHere(selection: WorkerSelection, placed: readonly PlacedWorker[]): string[] {
  const models = [...new Set(placed.map(({ model }) => model))];
  const nodes = new Set(placed.map(({ node }) => node)).size;
  return [
    ...(selection.kind === "pinned" ? ["the job names its workers"] : models.map(whyModel)),
    nodes === 1
      ? "one node has room for all of it"
      : `no one node had room: it lies on ${nodes} nodes, as few as did`,
  ];

  function whyModel(model: string): string {
    if (selection.kind === "auto" && selection.gpuModels !== null)
      return `${model} is the first of the models that it asks for of which enough would do`;
    const cents = priceCents(model);
    return cents === 0
      ? `${model} costs nothing: price and nodes together were the best of those that would do`
      : `${model} costs ${cents} cents an hour: price and nodes together were the best of those that would do`;
  }
}
