import { randomUUID } from "node:crypto";
import { committer } from "@resontech/audit/producer";
import type { EventDetail, OperationType } from "@resontech/contracts/audit-catalogue";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { EventObject, PiiField } from "@resontech/contracts/audit-event";
import { ApiError } from "../api-error.ts";
import { auditedOperation, type FailureOutcome, type OperationDeps } from "../audited-operation.ts";
import type { OperatorCaller, ServiceCaller } from "../authorization/caller.ts";
import { actorOf } from "../authorization/in-the-log.ts";
import type { WriteHandle } from "../db/open-database.ts";

/** A change of users, buckets and keys that no route asks for. @param pii values that are committed @param effect calls `close` in its transaction */
export function identityOperation<T extends OperationType, R>(
  deps: OperationDeps & { caller: OperatorCaller | ServiceCaller },
  type: T,
  object: EventObject,
  detail: EventDetail<T>,
  pii: Partial<Record<PiiField, string>>,
  effect: (close: (db: WriteHandle) => void) => Promise<R>,
): Promise<R> {
  const commit = committer();
  const fields = (Object.entries(pii) as [PiiField, string][]).map(([field, value]) => ({
    field,
    commitment: commit(`pii.${field}`, value),
  }));
  const draft: Omit<EventDraft<T>, "phase"> = {
    ...{ type, op: randomUUID(), actor: actorOf(deps.caller, commit), object, detail },
    ...(fields.length === 0 ? {} : { pii: fields }),
  };
  return auditedOperation(deps, draft, commit.disclosures, outcomeOf, ({ completeIn }) =>
    effect(completeIn),
  );
}

function outcomeOf(error: unknown): FailureOutcome {
  return { phase: "failed", code: error instanceof ApiError ? error.code : "internal_error" };
}
