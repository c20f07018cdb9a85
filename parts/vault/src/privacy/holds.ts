/** Legal holds, set by one signature and lifted by two, and refusals of an erasure: all on record. */
import { randomUUID } from "node:crypto";
import type { Actor } from "@resontech/contracts/audit-event";
import type {
  ConfirmHoldsRequest,
  HoldRequest,
  LiftRequest,
  RefuseRequest,
  UnprovenHoldRequest,
} from "@resontech/contracts/vault-control";
import { approvalObjection, type Objection } from "../decisions/approval.ts";
import type { Approved } from "@resontech/audit/approvals/evaluate-approval";
import type { VaultParts } from "../parts.ts";
import { opened, outcomeOf, type OperationDraft } from "../record/on-record.ts";
import { claimedPeople, HOST_OPERATOR } from "../record/host-command.ts";
import { grantedInTurn } from "../record/refusals.ts";
import { approvedDetail, judged, provenActor, usedObjection } from "./signed-requests.ts";

type HoldReply = { op: string; holds: string[] };
/** @property approved null where nobody signed */
type Word = { actor: Actor; detail: object; approved: Approved | null };

/** Changes a hold by the signatures that come with the request. @throws VaultRefused, AuditUnavailable */
export async function setOrLiftHold(
  parts: VaultParts,
  asked: HoldRequest | LiftRequest,
): Promise<HoldReply> {
  const approved = await judged(parts, asked);
  const { verb } = asked;
  return changeHold(
    parts,
    asked,
    { verb, proven: approved.requester },
    { actor: provenActor(approved), detail: approvedDetail(approved), approved },
  );
}

/** A name that somebody typed asks: a hold only keeps, and may be needed where nobody can sign. @throws VaultRefused, AuditUnavailable */
export function setUnprovenHold(parts: VaultParts, asked: UnprovenHoldRequest): Promise<HoldReply> {
  const { requester } = asked;
  const detail = claimedPeople({ requester });
  return changeHold(parts, asked, asked, { actor: HOST_OPERATOR, detail, approved: null });
}

async function changeHold(
  parts: VaultParts,
  asked: HoldRequest | LiftRequest | UnprovenHoldRequest,
  who: Parameters<typeof grantedInTurn>[1],
  { actor, detail, approved }: Word,
): Promise<HoldReply> {
  const { acts, record } = parts;
  const { verb, subject, hold } = asked;
  const lift = verb === "lift";
  const op = randomUUID();
  const draft: OperationDraft = {
    ...({ type: "privacy.hold", op, action: `vault ${verb}` } as const),
    ...{ actor, object: { kind: "user", id: subject } },
    detail: { hold, lifted: lift, ...detail },
  };
  const objection = (): Objection | null =>
    (approved === null ? null : usedObjection(acts, "hold", approved)) ??
    holdObjection(asked, acts.subjectOfHold(hold));
  // In turn with erasures: one that is under way is at its end, or finds the hold. In turn with others like it: what it finds stays so.
  return grantedInTurn(parts, who, objection, async () => {
    const request = { hold, lift, ...(approved === null ? {} : { approved }) };
    await opened(record, acts, { kind: "hold", subject, request }, draft);
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
  { verb, hold, subject }: HoldRequest | LiftRequest | UnprovenHoldRequest,
  heldSubject: string | null,
): Objection | null {
  if (verb !== "lift")
    return heldSubject === null
      ? null
      : { code: "hold_exists", message: `there is a hold ${hold}` };
  return heldSubject === subject
    ? null
    : { code: "hold_unknown", message: `no hold ${hold} of this subject` };
}
