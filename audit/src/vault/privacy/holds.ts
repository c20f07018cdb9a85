/** Legal holds, set and lifted by two people, and refusals of an erasure: both on record. */
import { randomUUID } from "node:crypto";
import type {
  ConfirmHoldsRequest,
  HoldRequest,
  RefuseRequest,
} from "@resontech/contracts/vault-control";
import { approvalObjection, type Objection } from "../decisions/approval.ts";
import type { VaultParts } from "../parts.ts";
import { opened, outcomeOf, type OperationDraft } from "../record/on-record.ts";
import { claimedPeople, HOST_OPERATOR } from "../record/host-command.ts";
import { grantedInTurn } from "../record/refusals.ts";

/** @throws VaultRefused, AuditUnavailable */
export async function setOrLiftHold(
  parts: VaultParts,
  asked: HoldRequest,
): Promise<{ op: string; holds: string[] }> {
  const { acts, record } = parts;
  const { subject, hold, lift, requester, approver } = asked;
  const op = randomUUID();
  const draft: OperationDraft = {
    ...({ type: "privacy.hold", op, action: "vault hold" } as const),
    actor: HOST_OPERATOR,
    object: { kind: "user", id: subject },
    detail: { hold, lifted: lift, ...claimedPeople({ requester, approvers: [approver] }) },
  };
  const objection = (): Objection | null =>
    approvalObjection({ requester, approvers: [approver] }) ??
    holdObjection(asked, acts.subjectOfHold(hold));
  // In turn with erasures: one that is under way is at its end, or finds the hold. In turn with others like it: what it finds stays so.
  return grantedInTurn(parts, asked, objection, async () => {
    await opened(record, acts, { kind: "hold", subject, request: { hold, lift } }, draft);
    acts.advance(op, "done", {
      say: outcomeOf(draft, "completed", { code: "ok" }, draft.detail),
      also: () => (lift ? acts.liftHold(hold) : acts.setHold(op, hold, subject)),
    });
    await record.durableInTime(op, "completed");
    return { op, holds: acts.holdsOf(subject) };
  });
}

/** People vouch that the holds of a database that was put back are those of the log. @throws VaultRefused, AuditUnavailable */
export async function confirmHolds(
  parts: VaultParts,
  asked: ConfirmHoldsRequest,
): Promise<{ op: string; holds: number }> {
  const { acts, outbox, record } = parts;
  const objection = (): Objection | null =>
    approvalObjection(asked) ??
    (outbox.holdsInDoubt
      ? null
      : { code: "holds_not_in_doubt", message: "the holds are not in doubt" });
  return grantedInTurn(parts, asked, objection, async () => {
    const op = randomUUID();
    void record.connection;
    const holds = acts.holdCount;
    outbox.sayHoldsConfirmed({
      ...({
        type: "privacy.holds.confirm",
        phase: "fact",
        op,
        action: "vault confirm-holds",
      } as const),
      ...{ actor: HOST_OPERATOR, object: { kind: "log", id: "vault" } },
      detail: { holds, ...claimedPeople(asked) },
    });
    await record.durableInTime(op, "fact");
    return { op, holds };
  });
}

/** @throws VaultRefused, AuditUnavailable */
export async function refuse(parts: VaultParts, asked: RefuseRequest): Promise<{ op: string }> {
  const { acts, record } = parts;
  const { subject, request, legalBasis, until, requester } = asked;
  const objection = (): Objection | null =>
    Number.isNaN(Date.parse(until))
      ? { code: "request_invalid", message: "until is no instant" }
      : null;
  return grantedInTurn(parts, asked, objection, async () => {
    const op = randomUUID();
    void record.connection;
    acts.begin(
      { op, kind: "refusal", subject, request: { request, legalBasis, until } },
      {
        ...({ type: "privacy.refusal", phase: "fact", op, action: "vault refuse" } as const),
        actor: HOST_OPERATOR,
        object: { kind: "user", id: subject },
        detail: { request, legal_basis: legalBasis, until, ...claimedPeople({ requester }) },
      },
    );
    await record.durableInTime(op, "fact");
    acts.advance(op, "done");
    return { op };
  });
}

function holdObjection(
  { hold, subject, lift }: HoldRequest,
  heldSubject: string | null,
): Objection | null {
  if (!lift)
    return heldSubject === null
      ? null
      : { code: "hold_exists", message: `there is a hold ${hold}` };
  return heldSubject === subject
    ? null
    : { code: "hold_unknown", message: `no hold ${hold} of this subject` };
}
