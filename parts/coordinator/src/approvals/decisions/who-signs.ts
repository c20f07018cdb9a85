/** Which requests are signed, and whose word is enough. */
import {
  type ApprovalKind,
  type Requested,
  SELF_ANSWERED_KINDS,
  SIGNED_KINDS,
} from "@resontech/contracts/http-approvals";

export type SignedKind = (typeof SIGNED_KINDS)[number];
export type SelfAnsweredKind = (typeof SELF_ANSWERED_KINDS)[number];

/** Whoever performs it checks the signatures. */
export function isSigned(what: Requested): what is Extract<Requested, { kind: SignedKind }> {
  return SIGNED_KINDS.some((kind) => kind === what.kind);
}

/** Nobody but who asks answers it. */
export function isSelfAnswered(kind: ApprovalKind): kind is SelfAnsweredKind {
  return SELF_ANSWERED_KINDS.some((one) => one === kind);
}
