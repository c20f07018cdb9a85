/** Requests that people signed for: judged once, good for one act, and in the log as what was proven. */
import type { Actor } from "@resontech/contracts/audit-event";
import { type Approved, evaluateApproval } from "@resontech/audit/approvals/evaluate-approval";
import { APPROVAL_USED, type Objection } from "../decisions/approval.ts";
import type { ActKind } from "../decisions/act-state.ts";
import { type SignedRequest, signedAct } from "../decisions/signed-act.ts";
import type { VaultParts } from "../parts.ts";
import { refusedInTurn } from "../record/refusals.ts";
import type { Act, Acts } from "../record/acts.ts";
import { hasLeft } from "./destruction.ts";

/** @throws VaultRefused once the log has the refusal */
export async function judged(parts: VaultParts, asked: SignedRequest): Promise<Approved> {
  const { stepUpKeysFile } = parts.config;
  const found = await evaluateApproval(
    stepUpKeysFile,
    asked.approval,
    signedAct(asked),
    Date.now(),
  );
  // Whom a forged proof names did not ask.
  if ("code" in found) return await refusedInTurn(parts, { verb: asked.verb }, found);
  return found;
}

/** An approval is for one act. What failed did not use it up, nor an erasure that has left something. */
export function usedObjection(acts: Acts, kind: ActKind, { approval }: Approved): Objection | null {
  const isUsed = acts
    .all(kind)
    .some((one) => approvalOf(one) === approval && one.state !== "failed" && !hasLeft(one));
  return isUsed ? APPROVAL_USED : null;
}

export function provenActor({ requester }: Approved): Actor {
  return { sub: requester, kind: "operator" };
}

/** What an entry says of who asked, and who agreed. */
export function approvedDetail({ approvers, singlePerson, ...approved }: Approved) {
  return approvers.length === 0
    ? approved
    : { ...approved, approvers, single_person: singlePerson };
}

function approvalOf({ request }: Act): string | undefined {
  return (request as { approved?: Approved }).approved?.approval;
}
