/** What a change of roles must not lead to. Pure. */
import { ApiError } from "../../api-error.ts";
import type { ApplianceRole } from "../../authorization/roles.ts";

/** Who checks the others is none of them. */
const NEVER_WITH_AUDITOR: ReadonlySet<ApplianceRole> = new Set([
  "platform-admin",
  "security-officer",
]);

/** @throws ApiError role_unchanged, duties_conflict, last_admin */
export function requireRoleChange(
  { role, change }: { role: ApplianceRole; change: "grant" | "revoke" },
  held: readonly ApplianceRole[],
  administrators: readonly string[],
  userId: string,
): void {
  if (held.includes(role) === (change === "grant"))
    throw new ApiError(
      "role_unchanged",
      change === "grant"
        ? `the person holds the role ${role} already`
        : `the person does not hold the role ${role}`,
    );
  const after = change === "grant" ? [...held, role] : held.filter((one) => one !== role);
  if (after.includes("compliance-auditor") && after.some((one) => NEVER_WITH_AUDITOR.has(one)))
    throw new ApiError(
      "duties_conflict",
      "an auditor can't be administrator or security officer as well",
    );
  if (role === "platform-admin" && change === "revoke")
    requireAnotherAdministrator(administrators, userId);
}

/** @throws ApiError last_admin */
export function requireAnotherAdministrator(
  administrators: readonly string[],
  userId: string,
): void {
  if (administrators.length > 0 && administrators.every((one) => one === userId))
    throw new ApiError("last_admin", "the last administrator can't be taken away");
}
