/** What decides whether a job can be had once more. Pure. */
import type { JobImage } from "@resontech/contracts/coordinator-config";
import type { SubmitTaskBody } from "@resontech/contracts/http-tasks";
import { ApiError } from "../../api-error.ts";
import type { AcceptedInput, AcceptedTask } from "../../kernel/accepted-task.ts";
import type { StoredTask } from "../../kernel/stored-tasks.ts";
import { askBodyOf } from "./member-asks.ts";

type Content = Pick<AcceptedInput, "etag" | "sizeBytes">;

/** Compares by the object store's digest of what was uploaded, part by part. */
export function isSameContent(one: Content, other: Content): boolean {
  return one.etag === other.etag && one.sizeBytes === other.sizeBytes;
}

/** The selection as a submission says it, so that it is judged by today's workers. */
export function submittedChoicesOf({
  selection,
  estimatedMemoryMb,
  spec,
}: Pick<StoredTask, "selection" | "estimatedMemoryMb" | "spec">): Pick<
  SubmitTaskBody,
  | "workerIds"
  | "gpuModels"
  | "maxPricePerGpuHourCents"
  | "estimatedMemoryMb"
  | "workersPerMember"
  | "cpusPerMember"
  | "hostMemoryMbPerMember"
> {
  const size = {
    ...(estimatedMemoryMb === null ? {} : { estimatedMemoryMb }),
    ...askBodyOf(spec),
  };
  if (selection.kind === "pinned") return { ...size, workerIds: selection.workerIds };
  const { gpuModels, maxPriceCents } = selection;
  return {
    ...size,
    ...(gpuModels === null ? {} : { gpuModels }),
    ...(maxPriceCents === null ? {} : { maxPricePerGpuHourCents: maxPriceCents }),
  };
}

/** Keeps those of the images by which the job's files were judged that this release still has. @throws ApiError image_unavailable */
export function onlyImagesOf(
  { image, images }: Pick<StoredTask, "image" | "images">,
  released: readonly JobImage[],
): Pick<AcceptedTask, "image" | "images"> {
  const references = new Set(released.map(({ reference }) => reference));
  if (!references.has(image.reference))
    throw new ApiError(
      "image_unavailable",
      `this release has no longer the job's image ${image.profile}: submit the job's folder anew`,
    );
  return { image, images: images.filter(({ reference }) => references.has(reference)) };
}
