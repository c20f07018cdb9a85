/** What Keycloak's tokens say of a person, and what it means here. Pure. */
import {
  APPLIANCE_ROLES,
  type ApplianceRole,
  type ProjectRole,
} from "../../authorization/roles.ts";
import type { RoleGrant } from "../../authorization/caller.ts";

/** Roles that need a second factor at every sign-in: who has one of them can do harm to everybody. */
const PRIVILEGED: ReadonlySet<string> = new Set<ApplianceRole>([
  "platform-admin",
  "security-officer",
  "compliance-auditor",
  "data-steward",
  "break-glass",
]);

/** `acr` of the second level: password and second factor, or a passkey. */
export const SECOND_FACTOR = "2";

/** Names that mean something on the whole appliance; a token's other roles mean nothing here. */
export function applianceRoles(claim: unknown): ApplianceRole[] {
  if (!Array.isArray(claim)) return [];
  return APPLIANCE_ROLES.filter((role) => claim.includes(role));
}

export function needsSecondFactor(roles: readonly string[]): boolean {
  return roles.some((role) => PRIVILEGED.has(role));
}

/** What a token of this level may use: by password alone no role that needs a second factor. */
export function rolesShown(roles: readonly ApplianceRole[], acr: string): ApplianceRole[] {
  return needsSecondFactor(roles) && acr !== SECOND_FACTOR ? [] : [...roles];
}

export function grantsOf(
  roles: readonly ApplianceRole[],
  memberships: readonly { projectId: string; role: ProjectRole }[],
): RoleGrant[] {
  return [
    ...roles.map((role) => ({ role, projectId: null })),
    ...memberships.map(({ role, projectId }) => ({ role, projectId })),
  ];
}
