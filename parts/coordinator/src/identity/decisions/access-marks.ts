/** What a reviewer of access should look at. Pure. */
import type { AccessMark } from "@resontech/contracts/http-access";
import type { ApplianceRole, ProjectRole } from "../../authorization/roles.ts";
import { isConflict, mayBeMember } from "./duties.ts";

const UNUSED_MS = 90 * 86_400_000;

/** Instants in Unix milliseconds. @property projects beside the own first one */
export type AccessFacts = {
  roles: readonly ApplianceRole[];
  projects: readonly { role: ProjectRole }[];
  keys: readonly { createdAt: number; lastUsedAt: number | null }[];
  createdAt: number;
  lastSignInAt: number | null;
  hasSecondFactor: boolean | null;
  isGone: boolean;
};

export function accessMarks(facts: AccessFacts, now: number): AccessMark[] {
  const { roles, projects, keys, createdAt, lastSignInAt, hasSecondFactor, isGone } = facts;
  const isIdle = (since: number | null, made: number) => (since ?? made) <= now - UNUSED_MS;
  // Who works from a shell shows a key, and no page.
  const lastSeen = [lastSignInAt, ...keys.map(({ lastUsedAt }) => lastUsedAt)].reduce(
    (newest, at) => (newest === null || (at !== null && at > newest) ? at : newest),
    null,
  );
  const hasRights = roles.length > 0 || projects.length > 0;
  const seesNoData = !mayBeMember(roles) || roles.includes("platform-admin");
  const marks: [AccessMark, boolean][] = [
    ["duties_conflict", isConflict(roles)],
    ["membership_without_effect", seesNoData && projects.length > 0],
    ["unused", !isGone && hasRights && isIdle(lastSeen, createdAt)],
    ["key_unused", keys.some((key) => isIdle(key.lastUsedAt, key.createdAt))],
    ["left_with_rights", isGone && (hasRights || keys.length > 0)],
    ["no_second_factor", roles.length > 0 && hasSecondFactor === false],
  ];
  return marks.flatMap(([mark, is]) => (is ? [mark] : []));
}
