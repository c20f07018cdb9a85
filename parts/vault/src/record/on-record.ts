/** Nothing is done before the log has that it was asked for, and, for what a witness must see, before one has. */
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { OperationType } from "@resontech/contracts/audit-catalogue";
import { AWAITS_WITNESS } from "@resontech/contracts/witnessed-operations";
import { AuditUnavailable } from "@resontech/audit/producer";
import type { Act, Acts } from "./acts.ts";
import type { AuditRecord } from "./audit-record.ts";
import type { Place } from "./outbox.ts";

export type OperationDraft = Omit<EventDraft<OperationType>, "phase" | "outcome">;

/** What an outcome repeats of its request. */
export function outcomeOf(
  { type, op, actor, object }: OperationDraft,
  phase: "completed" | "failed" | "denied",
  outcome: NonNullable<EventDraft["outcome"]>,
  detail?: EventDraft["detail"],
): EventDraft {
  return { type, op, actor, object, phase, outcome, ...(detail === undefined ? {} : { detail }) };
}

/**
 * Opens an operation; the act is `requested` when this resolves.
 * @throws AuditUnavailable when the log does not have it in time, or no witness has seen it and one must: the act has then failed
 */
export async function opened(
  record: AuditRecord,
  acts: Acts,
  act: Pick<Act, "kind" | "subject" | "request">,
  draft: OperationDraft,
): Promise<{ place: Place; unwitnessed: boolean }> {
  const { op } = draft;
  // Nothing is written while auditd is away: what was given up on would be asked for later.
  const { connection } = record;
  acts.begin({ ...act, op }, { ...draft, phase: "requested" });
  let place: Place;
  try {
    place = await record.durableInTime(op, "requested");
  } catch (error) {
    acts.advance(op, "failed", { say: outcomeOf(draft, "failed", { code: "audit_timeout" }) });
    throw error;
  }
  let unwitnessed = false;
  if (AWAITS_WITNESS.has(draft.type)) {
    const { needsWitness, witnessed, mayGoOn } = await connection
      .witnessed(place.index)
      .catch((error: unknown) => {
        acts.advance(op, "failed", { say: outcomeOf(draft, "failed", { code: "audit_timeout" }) });
        throw error;
      });
    unwitnessed = needsWitness && !witnessed;
    if (unwitnessed && !mayGoOn) {
      acts.advance(op, "failed", { say: outcomeOf(draft, "denied", { code: "unwitnessed" }) });
      throw new AuditUnavailable(
        "unwitnessed",
        "no witness has seen the request, and without one it is refused",
      );
    }
  }
  acts.advance(op, "requested", unwitnessed ? { result: { unwitnessed } } : {});
  return { place, unwitnessed };
}
