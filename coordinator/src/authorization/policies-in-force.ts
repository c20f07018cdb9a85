import { join } from "node:path";
import { readPolicyFiles } from "./policy-files.ts";
import { PolicySet } from "./policy-set.ts";

/** The release has its policies beside the program; a tree of sources has them in a room of their own. */
const FOLDER = import.meta.filename.endsWith(".ts")
  ? join(import.meta.dirname, "..", "..", "..", "policies", "cedar")
  : join(import.meta.dirname, "policies", "cedar");

let inForce: PolicySet | null = null;

/** The policies by which this process decides: read at the first call and kept. @throws PolicySetInvalid, and nothing is decided */
export function policiesInForce(): PolicySet {
  inForce ??= PolicySet.load(readPolicyFiles(FOLDER));
  return inForce;
}
