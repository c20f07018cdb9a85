import type { AuditEvent } from "@resontech/contracts/audit-draft";

/** The request by which something was done: its id, who asked, who agreed. */
export type NamedApproval = {
  id: string;
  /** Empty in entries of older releases. */
  requester: string;
  approvers: readonly string[];
  /** Nobody else was there who could have agreed. */
  isSinglePerson: boolean;
};

/** Finds the request: of an effect by its detail, of an entry about the request itself by its object. Null for all else. Names that nothing proves are none of these. */
export function approvalOf({ detail = {}, object }: AuditEvent): NamedApproval | null {
  const { approval, requester, approvers, single_person: single } = detail;
  const id = textOf(approval) ?? (object.kind === "approval" ? object.id : null);
  if (id === null) return null;
  return {
    ...{ id, requester: textOf(requester) ?? "", isSinglePerson: single === true },
    approvers: Array.isArray(approvers) ? approvers.map(String) : [],
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
