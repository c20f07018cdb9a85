/** What a compiled coordinator has as `src/authorization/judged-at-build.ts`: the policies of this tree, judged. */
import { join } from "node:path";
import { judgePolicies } from "../src/authorization/judge-policies.ts";
import { readPolicyFiles } from "../src/authorization/policy-files.ts";

const POLICIES = join(import.meta.dirname, "..", "..", "..", "policies", "cedar");

export const JUDGED_AT_BUILD = judgePolicies(readPolicyFiles(POLICIES));
