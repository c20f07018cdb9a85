/** Which workers a task asks for: bodies of client 0.3.0 (models and a ceiling, or pinned ids) and 0.2.1 (neither). */
import type { SubmitTaskBody } from "@resontech/contracts/http-tasks";
import { ApiError } from "../../api-error.ts";
import type { WorkerSelection } from "../../kernel/accepted-task.ts";
import { memberByMember } from "../../kernel/decisions/member-bundles.ts";
import { workerCount } from "../../kernel/decisions/worker-count.ts";
import type { FleetModel, WorkerView } from "../../kernel/fleet-view.ts";

type SelectionFields = Pick<
  SubmitTaskBody,
  | "workerIds"
  | "autoSelectWorkers"
  | "gpuModels"
  | "maxPricePerGpuHourCents"
  | "estimatedMemoryMb"
  | "workersPerMember"
>;
type KnownWorker = Pick<WorkerView, "id" | "node" | "model" | "priceCents">;
type KnownModel = Pick<FleetModel, "id" | "kind" | "memoryMb" | "pricePerHourCents">;

/** @throws ApiError worker_*, workers_apart, gpu_model_unknown, price_ceiling_too_low, memory_exceeds_models */
export function selectWorkers(
  body: SelectionFields,
  shardCount: number,
  workers: readonly KnownWorker[],
  catalogue: readonly KnownModel[],
): WorkerSelection {
  const pinned = body.workerIds ?? [];
  if (pinned.length > 0) {
    checkPinned(pinned, shardCount, body.workersPerMember ?? 1, workers);
    return { kind: "pinned", workerIds: pinned };
  }
  if (body.autoSelectWorkers === false) {
    throw new ApiError(
      "worker_selection_missing",
      "autoSelectWorkers is false and no workerIds are given",
    );
  }
  const maxPriceCents = body.maxPricePerGpuHourCents ?? null;
  const wished = [...new Set(body.gpuModels)];
  const models =
    wished.length === 0 ? [...catalogue] : wished.map((id) => knownModel(id, catalogue));
  const affordable = models.filter(
    (model) => maxPriceCents === null || model.pricePerHourCents <= maxPriceCents,
  );
  if (models.length > 0 && affordable.length === 0) {
    throw new ApiError(
      "price_ceiling_too_low",
      `no asked model costs ${maxPriceCents} cents an hour or less`,
    );
  }
  const memoryMb = body.estimatedMemoryMb ?? 0;
  // 0: as much as the node gives, so only placement can tell.
  const isLarge = ({ memoryMb: has }: KnownModel) => has === 0 || has >= memoryMb;
  if (wished.length > 0 && !affordable.some(isLarge)) {
    throw new ApiError("memory_exceeds_models", `no asked model has ${memoryMb} MB`);
  }
  return {
    kind: "auto",
    gpuModels: wished.length === 0 ? null : affordable.map(({ id }) => id),
    maxPriceCents,
  };
}

function checkPinned(
  pinned: readonly string[],
  shardCount: number,
  each: number,
  workers: readonly KnownWorker[],
): void {
  if (new Set(pinned).size !== pinned.length)
    throw new ApiError("worker_duplicate", "workerIds names a worker twice");
  if (pinned.length !== shardCount * each) {
    const shards = shardCount === 1 ? "1 shard" : `${shardCount} shards`;
    throw new ApiError(
      "worker_count_mismatch",
      `${workerCount(pinned.length)} pinned for ${shards}${each === 1 ? "" : `, each of which takes ${each}`}`,
    );
  }
  const known = new Map(workers.map((worker) => [worker.id, worker]));
  const unknown = pinned.find((id) => !known.has(id));
  if (unknown !== undefined) throw new ApiError("worker_unknown", `there is no worker ${unknown}`);
  const held = pinned.map((id) => known.get(id)!);
  for (const [first, ...others] of memberByMember(held, each)) {
    const apart = others.find(({ node, model }) => node !== first!.node || model !== first!.model);
    if (apart !== undefined)
      throw new ApiError(
        "workers_apart",
        `${first!.id} and ${apart.id} are pinned for one member, and are not of one node and model`,
      );
  }
}

function knownModel(id: string, catalogue: readonly KnownModel[]): KnownModel {
  const model = catalogue.find((entry) => entry.id === id);
  if (model === undefined)
    throw new ApiError(
      "gpu_model_unknown",
      `there is no model ${JSON.stringify(id)} in the catalogue`,
    );
  return model;
}
