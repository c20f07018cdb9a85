import { isModelOutput } from "@resontech/contracts/model-output";
import type { Principal } from "./principal.ts";

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
