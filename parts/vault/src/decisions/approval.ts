/** Who must agree. Null when nothing is in the way. */
import { ANONYMOUS } from "@resontech/audit/format/event/subject";

export type Objection = { code: string; message: string };
/** The database was put back, or is new beside older keys: a hold may be missing. */
export const HOLDS_IN_DOUBT: Objection = {
  code: "holds_in_doubt",
  message:
    "the vault's database was put back and may lack legal holds: set those that the log has, then let two people confirm them",
};

type Asked = { requester: string; approvers: readonly string[] };

/** Approvers are distinct people, and none of them is who asks. */
export function approvalObjection({ requester, approvers }: Asked): Objection | null {
  if (new Set(approvers).size !== approvers.length)
    return { code: "approvers_equal", message: "it takes two people" };
  if (approvers.includes(requester))
    return { code: "approver_is_requester", message: "nobody approves what he asks for himself" };
  return null;
}

/** An approval is for one act. */
export const APPROVAL_USED: Objection = {
  code: "approval_used",
  message: "the approval was for one act, and that is done: ask for a new one",
};

/** @property used what stands in the way where the approval was performed already */
export function erasureObjection(
  subject: string,
  holds: readonly string[],
  { isUnderWay, used }: { isUnderWay: boolean; used: Objection | null },
): Objection | null {
  if (subject === ANONYMOUS)
    return {
      code: "subject_anonymous",
      message:
        "values of callers without a name end with their month's retention, at nobody's request",
    };
  if (holds.length > 0)
    return { code: "legal_hold", message: `a legal hold stands: ${holds.join(", ")}` };
  return isUnderWay ? { code: "erasure_under_way", message: "this subject is being erased" } : used;
}
