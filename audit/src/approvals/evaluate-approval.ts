/** Judges a proof that people agreed, by nothing but the keys that root pinned. */
import { createHash } from "node:crypto";
import type { ApprovalProof } from "@resontech/contracts/approval-proof";
import { type ActToApprove, type Objection, proofObjection } from "./decisions/proof-objection.ts";
import { readStepUp } from "./read-step-up.ts";
import { readStepUpKeys } from "./step-up-keys-file.ts";

/**
 * What the log says of it.
 * @property approvers one person; the requester where nobody else is there; nobody where one person's word is enough
 * @property signatures SHA-256 of the tokens, in the order of request and approval
 */
export type Approved = {
  approval: string;
  requester: string;
  approvers: string[];
  signatures: string[];
  singlePerson: boolean;
};

const NONE_PINNED: Objection = {
  code: "step_up_keys_missing",
  message:
    "no key of the realm is pinned here: wait until keycloak runs, or give: appliance identity apply",
};

/** @param keysFile as the configuration names it; undefined: none @param nowMs Unix milliseconds */
export async function evaluateApproval(
  keysFile: string | undefined,
  proof: ApprovalProof,
  act: ActToApprove,
  nowMs: number,
): Promise<Approved | Objection> {
  const trusted = keysFile === undefined ? null : await readStepUpKeys(keysFile);
  if (trusted === null) return NONE_PINNED;
  const requested = await readStepUp(proof.requested.token, trusted.keys);
  if ("code" in requested) return requested;
  const approved =
    proof.approved === null ? null : await readStepUp(proof.approved.token, trusted.keys);
  if (approved !== null && "code" in approved) return approved;
  const objection = proofObjection(
    proof,
    { requested, approved },
    act,
    trusted,
    Math.floor(nowMs / 1000),
  );
  if (objection !== null) return objection;
  const takesOne = act.signers === "one";
  const tokens = [proof.requested, ...(proof.approved === null ? [] : [proof.approved])];
  return {
    approval: proof.approval,
    requester: proof.requested.by,
    approvers: takesOne ? [] : [(proof.approved ?? proof.requested).by],
    signatures: tokens.map(({ token }) => createHash("sha256").update(token).digest("hex")),
    singlePerson: !takesOne && proof.approved === null,
  };
}
