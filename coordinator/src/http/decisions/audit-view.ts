import type { AuditView } from "../../audit/audit-search.ts";
import type { Caller } from "../../identity/caller.ts";

/** Whose entries a caller may see: an administrator everybody's, anybody else what he did himself or what was done for him. */
export function auditViewOf({ isAdmin, userId }: Caller): AuditView {
  return isAdmin ? {} : { sub: userId };
}
