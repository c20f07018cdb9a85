import type { Principal } from "./principal.ts";

/** What the platform itself writes below `files_out/`; whatever else lies there the job's code wrote, and that may be a model. */
const OWN_FILES = /(^|\/)files_out\/(training_log\.txt|metrics\.jsonl|logs\/[^/]+\.log)$/;

/** Whether a key lies where models may be, at any depth. */
export function isModelOutput(key: string): boolean {
  return /(^|\/)(model_out|files_out)\//.test(key) && !OWN_FILES.test(key);
}

/** Whether a key may be an output of a job that leaves by approval alone: a model, what a job's code wrote, or a checkpoint. */
export function mayNeedApproval(key: string): boolean {
  return isModelOutput(key) || key.startsWith("ckpt/");
}

/**
 * Whether a version may be read that was released.
 * @param versionId as it was asked for, or as the engine says what it gives; null for none
 */
export function isReleased(released: readonly string[], versionId: string | null): boolean {
  return versionId !== null && released.includes(versionId);
}

/**
 * Whether a read must be refused where a site controls what models leave: only the coordinator's signature lets one out. Who it really is
 * the engine checks afterwards, so a forged name gains nothing.
 */
export function isExportRefused(
  outputExport: "open" | "controlled",
  principal: Principal,
  key: string,
): boolean {
  return outputExport === "controlled" && principal.kind !== "coordinator" && isModelOutput(key);
}
