/** Which duties one person can't have together. Pure. What slips through all the same, the policies in `duties.cedar` refuse. */
import type { ApplianceRole, ProjectRole, Role } from "../../authorization/roles.ts";

/** Who checks the others is none of them. */
const NEVER_WITH_AUDITOR: ReadonlySet<Role> = new Set<Role>(["platform-admin", "security-officer"]);
/** An auditor reads about actions, and nothing else: no role in a project shows more than the log does. */
const AUDITOR: Role = "compliance-auditor";

export function isConflict(held: readonly Role[]): boolean {
  return held.includes(AUDITOR) && held.some((role) => NEVER_WITH_AUDITOR.has(role));
}

/** Whether somebody who holds these may be made a member of a project, in whatever role. */
export function mayBeMember(held: readonly Role[]): boolean {
  return !held.includes(AUDITOR);
}

/** Memberships beside these roles: an auditor has none, neither by a directory's group nor by the project that came with the account. */
export function givenBeside<M>(held: readonly Role[], memberships: readonly M[]): M[] {
  return mayBeMember(held) ? [...memberships] : [];
}

/**
 * Roles that a token names, held to the same check as a request: of roles that exclude each other the one held before stays, and the new one is not
 * taken. Where none was held before, neither is. A token never gives more than it names.
 */
export function rolesTaken(
  named: readonly ApplianceRole[],
  before: readonly ApplianceRole[],
): ApplianceRole[] {
  if (!isConflict(named)) return [...named];
  const excluded = (role: ApplianceRole) => role === AUDITOR || NEVER_WITH_AUDITOR.has(role);
  const old = named.filter((role) => before.includes(role) && excluded(role));
  const stays = isConflict(old) ? [] : old;
  return named.filter((role) => !excluded(role) || stays.includes(role));
}

/** Lists the roles that somebody holds, sorted, each once. */
export function allHeld(
  roles: readonly ApplianceRole[],
  memberships: readonly { role: ProjectRole }[],
): Role[] {
  return [...new Set<Role>([...roles, ...memberships.map(({ role }) => role)])].sort();
}
