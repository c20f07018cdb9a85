import type { JobImage } from "@resontech/contracts/coordinator-config";
import { catalogueModel } from "@resontech/contracts/gpu-catalogue";
import { ApiError } from "../../api-error.ts";
import type { WorkerSelection } from "../../kernel/accepted-task.ts";
import { imageOfHub, whyNoImage } from "../../kernel/decisions/member-image.ts";
import type { WorkerView } from "../../kernel/fleet-view.ts";

type KnownWorker = Pick<WorkerView, "id" | "device">;

export type ChosenImages = {
  /** Of the member without a device, and for a program that knows one image a job. */
  image: JobImage;
  /** All that members may run, best first. */
  images: JobImage[];
};

/**
 * The images that the job's members may run: those that workers of the selection could run and that the job's files go with. Which of them a
 * member runs, placement decides by its worker; a driver that is too old today is no reason to refuse.
 * @param images in the release's order, better ones of a kind first
 * @param judge throws ApiError for an image that lacks something that the files need
 * @throws ApiError image_unavailable, or what `judge` threw for the first image when none is left
 */
export function chooseImages(
  selection: WorkerSelection,
  images: readonly JobImage[],
  workers: readonly KnownWorker[],
  { hasHub, judge }: { hasHub: boolean; judge: (image: JobImage) => void },
): ChosenImages {
  const serving = images.filter((image) => serves(image, selection, workers));
  if (selection.kind === "pinned") requireImages(selection.workerIds, images, workers);
  if (serving.length === 0)
    throw new ApiError(
      "image_unavailable",
      `this release has ${describe(images)}; none runs on ${requestOf(selection)}`,
    );
  const hub = hasHub ? imageOfHub(needsOf(images)).image : null;
  if (hub !== null) judge(hub);
  const failures: unknown[] = [];
  const fitting = serving.filter((image) => {
    if (image === hub) return true;
    try {
      judge(image);
      return true;
    } catch (error) {
      failures.push(error);
      return false;
    }
  });
  if (fitting.length === 0) throw failures[0];
  return {
    image: hub ?? fitting[0]!,
    images: hub === null || fitting.includes(hub) ? fitting : [hub, ...fitting],
  };
}

function serves(
  image: JobImage,
  selection: WorkerSelection,
  workers: readonly KnownWorker[],
): boolean {
  if (selection.kind === "pinned")
    return workers.some(
      ({ id, device }) =>
        selection.workerIds.includes(id) && whyNoImage(needsOf([image]), device) === null,
    );
  if (selection.gpuModels === null) return true;
  const vendor = image.needs?.vendor ?? null;
  return selection.gpuModels.some((model) => catalogueModel(model)?.vendor === vendor);
}

/** Pinned workers are what they are: nothing that could come later makes up for one without an image. */
function requireImages(
  pinned: readonly string[],
  images: readonly JobImage[],
  workers: readonly KnownWorker[],
): void {
  for (const { id, device } of workers.filter((worker) => pinned.includes(worker.id))) {
    const why = whyNoImage(needsOf(images), device);
    if (why !== null)
      throw new ApiError(
        "image_unavailable",
        `worker ${id} is one ${why}; this release has ${describe(images)}`,
      );
  }
}

function needsOf(images: readonly JobImage[]) {
  return images.map((image) => ({ needs: image.needs ?? null, image }));
}

function describe(images: readonly JobImage[]): string {
  if (images.length === 0) return "no job image";
  return images
    .map(({ profile, needs }) => `${profile} (for ${needs?.vendor ?? "processors"})`)
    .join(", ");
}

function requestOf(selection: WorkerSelection): string {
  return selection.kind === "auto" && selection.gpuModels !== null
    ? selection.gpuModels.join(", ")
    : "the workers asked for";
}
