import { join } from "node:path";
import { readPolicyFiles } from "./policy-files.ts";
import { PolicySet } from "./policy-set.ts";

/** The release has its policies beside the program; a tree of sources has them in a room of their own. */
const FOLDER = import.meta.filename.endsWith(".ts")
  ? join(import.meta.dirname, "..", "..", "..", "..", "policies", "cedar")
  : join(import.meta.dirname, "policies", "cedar");

let shipped: PolicySet | null = null;
let inForce: PolicySet | null = null;

/** Reads the release's own policies, once. @throws PolicySetInvalid */
export function shippedPolicies(): PolicySet {
  shipped ??= PolicySet.load(readPolicyFiles(FOLDER));
  return shipped;
}

/** The policies by which this process decides: those of the release, until others are put in force. @throws PolicySetInvalid, and nothing is decided */
export function policiesInForce(): PolicySet {
  return inForce ?? shippedPolicies();
}

/** Puts policies in force from the next decision on. */
export function putInForce(policies: PolicySet): void {
  inForce = policies;
}
