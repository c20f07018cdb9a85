/** Groups of a person as tokens name them, in the form in which they are mapped to roles: `corp/doctors`. Pure. */
import { PROJECT_ROLES, type ProjectRole } from "../../authorization/roles.ts";

/** Where a person comes from. @property name of the connection */
export type Source = { name: string; subject: string; kind: "storage" | "broker" };

const MAX_GROUPS = 2_000;
const MAX_NAME = 256;

/**
 * A connection speaks of its own groups alone, whatever the token holds.
 * @param paths claim of Keycloak's own groups, like `/corp/doctors` @param named claim of what a provider named at the sign-in
 */
export function groupNames(
  source: Pick<Source, "name" | "kind"> | null,
  { paths, named }: { paths: unknown; named: unknown },
): string[] {
  if (source === null) return [];
  const prefix = `${source.name}/`;
  const names =
    source.kind === "storage"
      ? texts(paths)
          .map((path) => path.slice(1))
          .filter((path) => path.startsWith(prefix) && path.length > prefix.length)
      : texts(named).map((name) => `${prefix}${name}`);
  return [...new Set(names)].slice(0, MAX_GROUPS);
}

function texts(claim: unknown): string[] {
  const all: unknown[] = Array.isArray(claim) ? claim : [claim];
  return all.filter(
    (one): one is string => typeof one === "string" && one !== "" && one.length <= MAX_NAME,
  );
}

/** Keeps, of several roles in one project, the one that may most. */
export function strongest<M extends { projectId: string; role: ProjectRole }>(
  memberships: readonly M[],
): M[] {
  const best = new Map<string, M>();
  for (const one of memberships) {
    const before = best.get(one.projectId);
    if (before === undefined || rank(one.role) < rank(before.role)) best.set(one.projectId, one);
  }
  return [...best.values()];
}

function rank(role: ProjectRole): number {
  return PROJECT_ROLES.indexOf(role);
}
