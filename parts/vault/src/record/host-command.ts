/** Who an entry of a command at the host names. Pure. */
import type { Actor } from "@resontech/contracts/audit-event";

/** Whoever is root: the names that a command is given prove nobody. */
export const HOST_OPERATOR: Actor = { sub: "appliance", kind: "operator" };

export type ClaimedPeople = {
  claimed?: { requester?: string; approvers?: string[]; proof: "unproven" };
};

/** Names that somebody typed: kept apart from who did it, and marked. Empty where nobody was named. */
export function claimedPeople(named: {
  requester?: string;
  approvers?: readonly string[];
}): ClaimedPeople {
  const { requester, approvers } = named;
  if (requester === undefined && approvers === undefined) return {};
  return {
    claimed: {
      ...(requester === undefined ? {} : { requester }),
      ...(approvers === undefined ? {} : { approvers: [...approvers] }),
      proof: "unproven",
    },
  };
}
