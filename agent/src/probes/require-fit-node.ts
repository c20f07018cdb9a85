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

/** @throws NodeUnfitError */
export function requireFitNode(dataDir: string): void {
  const missing = missingHardware(readNodeFacts(dataDir));
  if (missing.length > 0) throw new NodeUnfitError(missing);
}
