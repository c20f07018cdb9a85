import type { Decision } from "@resontech/contracts/policies";
import type { AuditView } from "../../audit/audit-search.ts";
import type { Caller } from "../../identity/caller.ts";

/** Whose entries a caller may see: an administrator everybody's, anybody else what he did himself or what was done for him. */
export function auditViewOf({ isAdmin, userId }: Caller): { view: AuditView; decision: Decision } {
  return isAdmin
    ? { view: {}, decision: { effect: "allow", policy_ids: ["audit-all"] } }
    : { view: { sub: userId }, decision: { effect: "allow", policy_ids: ["audit-own"] } };
}
