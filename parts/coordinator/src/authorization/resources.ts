/** What actions are done to: the kinds of row, by what it is told whose a row is, and what is said of a row that is not there. */
import type { ErrorCode } from "@resontech/contracts/error-catalogue";
import type { PolicyId } from "@resontech/contracts/policies";

type RowAttribute = "userId" | "projectId" | "node";
/** `self`: the row is that user or node itself. */
type Resource = { type: string; attributes: Partial<Record<RowAttribute, string>> };

/**
 * The type that `schema.cedarschema` has for each kind, and by which of its members a row tells whose it is. A list can be filtered
 * by these members alone. `appliance` has no rows.
 */
export const RESOURCES = {
  appliance: { type: "Appliance", attributes: {} },
  job: { type: "Job", attributes: { projectId: "project", userId: "owner" } },
  project: { type: "ProjectRecord", attributes: { projectId: "project" } },
  bucket: { type: "Bucket", attributes: { projectId: "project" } },
  key: { type: "KeyRecord", attributes: { userId: "owner" } },
  user: { type: "User", attributes: { userId: "self" } },
  log: { type: "LogEntry", attributes: { userId: "owner" } },
  node: { type: "Node", attributes: { node: "self" } },
  member: { type: "Member", attributes: { node: "node" } },
  membership: { type: "Membership", attributes: { projectId: "project", userId: "person" } },
  session: { type: "Session", attributes: { userId: "owner" } },
  approval: { type: "Approval", attributes: { projectId: "project", userId: "requester" } },
} as const satisfies Record<string, Resource>;
export type ResourceKind = keyof typeof RESOURCES;

/** Whether rows of the kind tell it. */
export function tells(kind: ResourceKind, attribute: RowAttribute): boolean {
  return attribute in RESOURCES[kind].attributes;
}

/** What a caller is told of a row that is not there or not in reach: one answer for both. */
export type OutOfReach = { code: ErrorCode; message: string; policies: readonly PolicyId[] };

const hidden = (message: string): OutOfReach => ({ code: "not_found", message, policies: [] });

export const OUT_OF_REACH: Record<ResourceKind, OutOfReach> = {
  appliance: {
    code: "role_required",
    message: "this caller may not do this",
    policies: ["no-grant"],
  },
  job: hidden("there is no such task"),
  project: hidden("there is no such project"),
  bucket: { code: "bucket_missing", message: "the project has no bucket yet", policies: [] },
  key: hidden("there is no such key"),
  user: hidden("there is no such user"),
  log: hidden("there is no such entry"),
  node: hidden("there is no such node"),
  member: hidden("there is no such member"),
  membership: hidden("there is no such project"),
  session: hidden("there is no such session"),
  approval: hidden("there is no such request"),
};
