import type { JobImage } from "@resontech/contracts/coordinator-config";
import { ApiError } from "../api-error.ts";
import type { AcceptedTask } from "../kernel/accepted-task.ts";
import type { CatalogueEntry, WorkerView } from "../kernel/kernel.ts";
import type { ObjectStore } from "../storage/object-store.ts";

export type ValidationDeps = {
  store: Pick<ObjectStore, "list" | "getRange">;
  images: readonly JobImage[];
  workers: () => readonly WorkerView[];
  catalogue: () => readonly CatalogueEntry[];
};

/** What the kernel takes but for who asked and what auditd acknowledged. */
export type ValidatedTask = Omit<AcceptedTask, "userId" | "projectId" | "audit" | "idempotency"> & {
  /** An uploaded script holds a platform key. */
  hasKeyInScript: boolean;
};

/** The job's row need not say what can be imported. */
export function asKept({ modules: _modules, ...image }: JobImage): JobImage {
  return image;
}

/** @throws ApiError validation_failed */
export function taskName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "" || !trimmed.isWellFormed() || /\p{Cc}/u.test(trimmed)) {
    throw new ApiError("validation_failed", "body.name is blank or has control characters");
  }
  return trimmed;
}
