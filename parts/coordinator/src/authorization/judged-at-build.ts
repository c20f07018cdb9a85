import type { JudgedPolicies } from "./judge-policies.ts";

/** The release's own policies, in a compiled program, which `build/judged-policies.ts` writes this for; a tree of sources judges them at each start. */
export const JUDGED_AT_BUILD: JudgedPolicies | null = null;
