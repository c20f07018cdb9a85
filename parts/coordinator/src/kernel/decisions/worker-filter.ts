/** Which workers may serve a gang even when they are busy, and why the others may not. Pure. */
import { catalogueModel } from "@resontech/contracts/gpu-catalogue";
import { whyNoImage } from "./member-image.ts";
import { type MemberAsk, whyTooLittle } from "./resources.ts";
import { whyNotLetIn } from "./node-gate.ts";
import type { PlacementNode, PlacementWorker, Vacancy } from "./placement-facts.ts";

const MIB = 1024 ** 2;

/** @returns cents an hour; 0 for a model of no price */
export function priceCents(model: string): number {
  return catalogueModel(model)?.pricePerGpuHourCents ?? 0;
}

/** The first filter that excludes a worker even when it is free, as an end of "n …"; null when it may serve. */
export function whyNeverNow(
  gang: Omit<Vacancy, "member" | "home" | "hasPort">,
  worker: PlacementWorker,
  node: PlacementNode | undefined,
): string | null {
  const { selection } = gang;
  if (selection.kind === "pinned" && !selection.workerIds.includes(worker.id))
    return "not among the pinned workers";
  if (selection.kind === "auto") {
    if (selection.gpuModels !== null && !selection.gpuModels.includes(worker.model))
      return "of other models";
    if (selection.maxPriceCents !== null && priceCents(worker.model) > selection.maxPriceCents)
      return "above the price ceiling";
  }
  if (gang.onlyMine && node?.ownerId !== null && node?.ownerId !== gang.userId)
    return "of other owners";
  const shut = whyNotLetIn(gang, node?.gate);
  if (shut !== null) return shut;
  const unfit = gang.images === null ? null : whyNoImage(gang.images, worker.device);
  if (unfit !== null) return unfit;
  if (gang.estimatedMemoryMb !== null && worker.memoryBytes < gang.estimatedMemoryMb * MIB)
    return "with too little memory";
  const tooLittle = gang.asks === undefined ? null : whyShort(gang.asks, gang, worker, node);
  if (tooLittle !== null) return tooLittle;
  if (node === undefined || !node.isReady) return "on nodes that do not answer";
  if (node.agentProtocol < gang.agentProtocol) return "on nodes whose agent is too old";
  if (node.isCordoned) return "on cordoned nodes";
  if (!node.hasDisk) return "on nodes whose disk is full";
  if (!worker.isHealthy) return "unhealthy or quarantined";
  return null;
}

function whyShort(
  asks: MemberAsk,
  { workersEach: count = 1 }: Pick<Vacancy, "workersEach">,
  { device: { kind }, memoryBytes }: PlacementWorker,
  node: PlacementNode | undefined,
): string | null {
  if (node?.size === undefined) return "on nodes that have not told what they have";
  return whyTooLittle(asks, node.size, { kind, count, memoryBytes: memoryBytes * count });
}
