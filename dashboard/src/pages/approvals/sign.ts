/** Signing at Keycloak, and what follows once the browser is back. */
import {
  type ApprovalKind,
  type Requested,
  SELF_ANSWERED_KINDS,
} from "@resontech/contracts/http-approvals";
import { ask } from "../../api/ask.ts";

/** `approve`: what was signed is the approval, and is sent now. `signed`: somebody else approves. */
export type Then = { approve: string } | { signed: string };

const BEGUN = "rt-approval";

/** The signature of whoever asks is enough. */
export function isSelfAnswered(kind: ApprovalKind): boolean {
  return SELF_ANSWERED_KINDS.some((one) => one === kind);
}

/** Asked for and not yet signed: it is signed at once. */
export async function askAndSign(what: Requested, reason: { reason?: string }): Promise<void> {
  const { id, singlePerson } = await ask("POST", "/api/approvals", {
    body: { what, ...reason },
  });
  const isAlone = singlePerson || isSelfAnswered(what.kind);
  await sign(id, "request", isAlone ? { approve: id } : { signed: id });
}

/** Leaves for Keycloak; what is to follow is kept in this tab. */
export async function sign(id: string, answer: "request" | "approve", then: Then): Promise<void> {
  const { location: next } = await ask("POST", "/api/approvals/{id}/sign", {
    params: { id },
    body: { answer },
  });
  sessionStorage.setItem(BEGUN, JSON.stringify(then));
  location.assign(next);
}

/** What was begun before the browser left, once. */
export function takeBegun(): Then | null {
  const kept = sessionStorage.getItem(BEGUN);
  sessionStorage.removeItem(BEGUN);
  return kept === null ? null : (JSON.parse(kept) as Then);
}

/** Goes on after the signature, and says what was done in words for who did it. @throws Problem */
export async function goOn(then: Then): Promise<string> {
  if ("signed" in then)
    return "You have signed the request. Somebody else must approve it within 72 hours.";
  await ask("POST", "/api/approvals/{id}/approve", { params: { id: then.approve }, body: {} });
  return `The request is approved. The operator performs it within a day by: --approval ${then.approve}`;
}
