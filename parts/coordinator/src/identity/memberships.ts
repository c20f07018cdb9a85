/** Who is what in a project, and what comes with it: key pairs and platform keys follow. */
import { ApiError } from "../api-error.ts";
import type { OpenOperation } from "../audited-operation.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import type { BucketKeys } from "./bucket-keys.ts";
import { findBucketOfProject } from "./bucket-store.ts";
import { mayBeMember } from "./decisions/duties.ts";
import { revokeKeysIn } from "./key-store.ts";
import { rolesOf } from "./role-holders.ts";
import { hasOtherLead, type MemberRole, removeMember, roleIn, setMember } from "./project-store.ts";

export type MembershipDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  bucketKeys: Pick<BucketKeys, "withdraw">;
  /** Unix milliseconds. */
  now: () => number;
};
type Of = { projectId: string; userId: string };

/** Refuses an auditor in the transaction of the change. @throws ApiError duties_conflict for an auditor, who is in no project */
export function requireMayBeMember(db: WriteHandle, userId: string): void {
  if (!mayBeMember(rolesOf(db, userId)))
    throw new ApiError("duties_conflict", "an auditor can't be a member of a project as well");
}

/** Makes somebody a member, or gives a member another role: a viewer has no key pair. @throws ApiError last_lead, duties_conflict */
export async function giveRole(
  { read, commit, bucketKeys, now }: MembershipDeps,
  of: Of,
  role: MemberRole,
  operation: OpenOperation<"iam.project.member">,
): Promise<void> {
  await commit.run((db) => {
    requireMayBeMember(db, of.userId);
    if (role !== "project-lead") requireLeadBeside(db, of);
    setMember(db, of.projectId, of.userId, role, now());
    if (role !== "viewer") operation.completeIn(db);
  });
  const bucket = findBucketOfProject(read, of.projectId);
  if (role === "viewer" && bucket !== null)
    await bucketKeys.withdraw(bucket.name, of.userId, operation.completeIn);
}

/**
 * The row goes before the pair: a kill between leaves a pair that the next start takes away. Platform keys of the project are over for good, and don't come
 * back with the member.
 * @throws ApiError last_lead; not_found for who is no member
 */
export async function endMembership(
  { read, commit, bucketKeys, now }: MembershipDeps,
  of: Of,
  operation: OpenOperation<"iam.project.member">,
): Promise<void> {
  const keys = await commit.run((db) => {
    if (roleIn(db, of.projectId, of.userId) === null)
      throw new ApiError("not_found", "there is no such member");
    requireLeadBeside(db, of);
    removeMember(db, of.projectId, of.userId);
    return revokeKeysIn(db, of, now());
  });
  operation.tell({ change: "revoke", member: of.userId, keys });
  const bucket = findBucketOfProject(read, of.projectId);
  if (bucket !== null) await bucketKeys.withdraw(bucket.name, of.userId, operation.completeIn);
}

/** Makes sure, in the transaction of the change, that another one leads: of two leads who leave at once one stays. */
function requireLeadBeside(db: WriteHandle, { projectId, userId }: Of): void {
  if (roleIn(db, projectId, userId) !== "project-lead") return;
  if (!hasOtherLead(db, projectId, userId))
    throw new ApiError("last_lead", "nobody else leads the project");
}
