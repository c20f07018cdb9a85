/** What a change of roles must not lead to. Pure. */
import { ApiError } from "../../api-error.ts";
import type { ApplianceRole } from "../../authorization/roles.ts";
import { isConflict } from "../../identity/decisions/duties.ts";

export type RoleChange = { role: ApplianceRole; change: "grant" | "revoke" };
/**
 * What a change of one person's roles is judged by.
 * @property held by the person, on the whole appliance
 * @property isMember of a project beside the own first one
 * @property otherAdministrators who are not disabled
 */
export type RoleFacts = {
  held: readonly ApplianceRole[];
  isMember: boolean;
  otherAdministrators: readonly string[];
};

/** @throws ApiError role_unchanged, duties_conflict, last_admin */
export function requireRoleChange(wanted: RoleChange, facts: RoleFacts): void {
  const { role, change } = wanted;
  if (facts.held.includes(role) === (change === "grant"))
    throw new ApiError(
      "role_unchanged",
      change === "grant"
        ? `the person holds the role ${role} already`
        : `the person does not hold the role ${role}`,
    );
  requireAllowed(wanted, facts);
}

/** The same of a change that a newer token may have brought here already. @throws ApiError duties_conflict, last_admin */
export function requireAllowed(wanted: RoleChange, facts: RoleFacts): void {
  const after = rolesAfter(wanted, facts.held);
  if (isConflict(after))
    throw new ApiError(
      "duties_conflict",
      "an auditor can't be administrator or security officer as well",
    );
  if (wanted.change === "grant" && wanted.role === "compliance-auditor" && facts.isMember)
    throw new ApiError("duties_conflict", "an auditor can't be a member of a project as well");
  if (wanted.change === "revoke" && wanted.role === "platform-admin")
    requireAnotherAdministrator(facts.otherAdministrators);
}

export function rolesAfter(
  { role, change }: RoleChange,
  held: readonly ApplianceRole[],
): ApplianceRole[] {
  const others = held.filter((one) => one !== role);
  return change === "grant" ? [...others, role] : others;
}

/** @throws ApiError last_admin */
export function requireAnotherAdministrator(others: readonly string[]): void {
  if (others.length === 0)
    throw new ApiError("last_admin", "the last administrator can't be taken away");
}
