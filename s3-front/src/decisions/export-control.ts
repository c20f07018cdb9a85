import type { Principal } from "./principal.ts";

/** Whether a key lies in a folder of models, at any depth. */
export function isModelOutput(key: string): boolean {
  return /(^|\/)model_out\//.test(key);
}

/**
 * Whether a read must be refused where a site controls what models leave: only the coordinator's signature lets one out. Who it really is
 * the engine checks afterwards, so a forged name gains nothing.
 */
export function isExportRefused(outputExport: "open" | "controlled", principal: Principal, key: string): boolean {
  return outputExport === "controlled" && principal.kind !== "coordinator" && isModelOutput(key);
}
