import type { JobImage } from "@resontech/contracts/coordinator-config";
import type { WorkerSelection } from "../../kernel/accepted-task.ts";
import type { WorkerView } from "../../kernel/kernel.ts";

/** Ends the profiles that run without an accelerator; every other image runs on both. */
const CPU_PROFILE = /-cpu$/;

/**
 * The image that all members of the job run: the CPU one only where nothing but CPU slots can come.
 * @returns null when the release has no image at all
 */
export function chooseImage(
  selection: WorkerSelection,
  images: readonly JobImage[],
  workers: readonly Pick<WorkerView, "id" | "kind">[],
): JobImage | null {
  const wantsCpu = takesCpuAlone(selection, workers);
  return images.find(({ profile }) => CPU_PROFILE.test(profile) === wantsCpu) ?? images[0] ?? null;
}

function takesCpuAlone(
  selection: WorkerSelection,
  workers: readonly Pick<WorkerView, "id" | "kind">[],
): boolean {
  if (selection.kind === "pinned") {
    return workers
      .filter(({ id }) => selection.workerIds.includes(id))
      .every(({ kind }) => kind === "cpu");
  }
  if (selection.gpuModels === null) return workers.every(({ kind }) => kind === "cpu");
  return selection.gpuModels.every((model) => model === "cpu");
}
