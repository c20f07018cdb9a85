import { missingHardware } from "../decisions/minimum-hardware.ts";
import { readNodeFacts } from "./node-facts.ts";

/** The node can't run jobs; the message says all that is missing. */
export class NodeUnfitError extends Error {
  readonly code = "node_unfit";
  readonly missing: readonly string[];

  constructor(missing: readonly string[]) {
    super(`this node can't run jobs: ${missing.join("; ")}`);
    this.missing = missing;
  }
}

/**
 * @param isNew it has not joined yet; later on jobs themselves may be what took the disk's room
 * @throws NodeUnfitError
 */
export function requireFitNode(dataDir: string, isNew: boolean): void {
  const missing = missingHardware(readNodeFacts(dataDir), isNew);
  if (missing.length > 0) throw new NodeUnfitError(missing);
}
