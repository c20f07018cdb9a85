/** Whether two people agreed to an act. Pure: the tokens' signatures were checked before. */
import type {
  ApprovalProof,
  StepUpSignature,
  StepUpStatement,
} from "@resontech/contracts/approval-proof";
import type { StepUpKeys } from "@resontech/contracts/step-up-keys";
import { stepUpNonce } from "../../format/approval/step-up-nonce.ts";

export type Objection = { code: string; message: string };

/** Of an ID token whose signature is that of the key. Times in Unix seconds. */
export type StepUpClaims = {
  iss: string;
  aud: string | string[];
  azp: string;
  /** Keycloak's word for what the token is. */
  typ: string;
  sub: string;
  acr: string;
  auth_time: number;
  iat: number;
  nonce: string;
  roles: string[];
};
export type SignedClaims = { claims: StepUpClaims; key: StepUpKeys["keys"][number] };

/**
 * @property what exactly what will be done
 * @property requesterRoles, approverRoles one of them must be held
 * @property signers `one`: whoever asks; `two`: always; left out: two, or one while nobody else could agree
 * @property beneficiaries pseudonyms of those who gain by it: none of them agrees to it
 */
export type ActToApprove = {
  what: StepUpStatement["what"];
  requesterRoles: readonly string[];
  approverRoles: readonly string[];
  signers?: "one" | "two";
  beneficiaries?: readonly string[];
};

/** From the request to the answer, as the coordinator has it. */
const ANSWER_S = 72 * 3_600;
/** From the answer to the act. */
const PERFORM_S = 24 * 3_600;
/** From the second factor to the token. */
const FRESH_S = 300;
/** Keycloak runs on this host; a clock that is set meanwhile may step. */
const SKEW_S = 60;
const SECOND_FACTOR = "2";

/** @param approved null: nobody else could agree @param nowS Unix seconds. Null when nothing is in the way */
export function proofObjection(
  proof: ApprovalProof,
  { requested, approved }: { requested: SignedClaims; approved: SignedClaims | null },
  act: ActToApprove,
  trusted: StepUpKeys,
  nowS: number,
): Objection | null {
  const sign = (answer: StepUpStatement["answer"], { by, salt }: StepUpSignature): string =>
    stepUpNonce({ approval: proof.approval, answer, by, salt, what: act.what });
  const asked =
    claimsObjection(requested, trusted, act.requesterRoles, nowS) ??
    nonceObjection(requested, sign("request", proof.requested));
  if (asked !== null) return asked;
  if (proof.approved === null || approved === null)
    return aloneObjection(requested.claims, act, trusted, nowS);
  if (act.signers === "one")
    return objection("approval_invalid", "one person signs this: nobody else agrees to it");
  return (
    claimsObjection(approved, trusted, act.approverRoles, nowS) ??
    nonceObjection(approved, sign("approve", proof.approved)) ??
    pairObjection(proof, requested.claims, approved.claims, nowS) ??
    beneficiaryObjection(proof.approved, act)
  );
}

function claimsObjection(
  { claims, key }: SignedClaims,
  { issuer, audience }: StepUpKeys,
  roles: readonly string[],
  nowS: number,
): Objection | null {
  const { iss, aud, azp, typ, acr, iat, auth_time: shownAt } = claims;
  const isForUs =
    typeof aud === "string" ? aud === audience : aud.length === 1 && aud[0] === audience;
  if (iss !== issuer || !isForUs || azp !== audience || typ !== "ID")
    return objection(
      "step_up_token",
      "a token is no sign-in of this appliance's own realm and client",
    );
  if (key.notAfter !== null && iat > key.notAfter)
    return objection(
      "step_up_key_over",
      "a token was made with a key that the realm had given up by then",
    );
  if (acr !== SECOND_FACTOR)
    return objection("step_up_level", "a person signed without showing a second factor");
  if (shownAt > nowS + SKEW_S || iat > nowS + SKEW_S)
    return objection("step_up_future", "a signature is from the future: set the clock right");
  if (iat - shownAt > FRESH_S || shownAt > iat + SKEW_S)
    return objection("step_up_stale", "the second factor was not shown for this signature");
  return roles.some((role) => claims.roles.includes(role))
    ? null
    : objection("step_up_role", `it takes one of the roles ${roles.join(", ")}`);
}

function nonceObjection({ claims }: SignedClaims, nonce: string): Objection | null {
  return claims.nonce === nonce
    ? null
    : objection("step_up_nonce", "a signature is for something else than what is asked now");
}

/** Who asked is alone as long as nobody else holds a role that could agree. */
function aloneObjection(
  { sub, iat }: StepUpClaims,
  { approverRoles, signers }: ActToApprove,
  { holders }: StepUpKeys,
  nowS: number,
): Objection | null {
  if (signers === "one") return iat + PERFORM_S < nowS ? tooOld() : null;
  if (signers === "two")
    return objection("approval_single", "this takes the signatures of two people, always");
  const others = approverRoles.flatMap((role) => holders[role] ?? []).filter((one) => one !== sub);
  if (others.length > 0)
    return objection(
      "approval_single",
      `somebody else holds ${approverRoles.join(" or ")} and has to agree`,
    );
  return iat + PERFORM_S < nowS ? tooOld() : null;
}

function pairObjection(
  { requested: asked, approved: agreed }: ApprovalProof,
  requested: StepUpClaims,
  approved: StepUpClaims,
  nowS: number,
): Objection | null {
  if (requested.sub === approved.sub || asked.by === agreed?.by)
    return objection("approver_is_requester", "nobody approves what he asks for himself");
  if (approved.iat + SKEW_S < requested.iat)
    return objection("step_up_order", "the approval is older than the request");
  if (approved.iat - requested.iat > ANSWER_S + SKEW_S)
    return objection("approval_over", "the request was over when it was approved");
  return approved.iat + PERFORM_S < nowS ? tooOld() : null;
}

function beneficiaryObjection(
  { by }: StepUpSignature,
  { beneficiaries = [] }: ActToApprove,
): Objection | null {
  return beneficiaries.includes(by)
    ? objection("approver_gains", "nobody approves what they gain by themselves")
    : null;
}

function tooOld(): Objection {
  return objection(
    "approval_over",
    "the approval is older than a day: ask for it again, and have it approved",
  );
}

function objection(code: string, message: string): Objection {
  return { code, message };
}
