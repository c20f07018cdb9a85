import type { JobImage } from "@resontech/contracts/coordinator-config";
import { ApiError } from "../api-error.ts";
import type { AcceptedTask } from "../kernel/accepted-task.ts";
import { memberImageOf } from "../kernel/job-images.ts";
import type { FleetModel, WorkerView } from "../kernel/fleet-view.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { ChosenImages } from "./decisions/choose-images.ts";

export type ValidationDeps = {
  store: Pick<ObjectStore, "list" | "listAtOnce" | "getRange">;
  images: readonly JobImage[];
  workers: () => readonly WorkerView[];
  catalogue: () => readonly FleetModel[];
};

/** What the kernel takes but for who asked and what auditd acknowledged. */
export type ValidatedTask = Omit<
  AcceptedTask,
  "userId" | "projectId" | "after" | "audit" | "idempotency"
> & {
  /** An uploaded script holds a platform key. */
  hasKeyInScript: boolean;
};

/** Answers the images as the job keeps them; its row need not say what can be imported. */
export function asKept({ image, images }: ChosenImages): Pick<AcceptedTask, "image" | "images"> {
  const { modules: _modules, ...kept } = image;
  return { image: kept, images: images.map(memberImageOf) };
}

/** @throws ApiError validation_failed */
export function taskName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "" || !trimmed.isWellFormed() || /\p{Cc}/u.test(trimmed)) {
    throw new ApiError("validation_failed", "body.name is blank or has control characters");
  }
  return trimmed;
}
