import { randomUUID } from "node:crypto";
import { committer } from "@resontech/audit/producer";
import type { EventDetail, OperationType } from "@resontech/contracts/audit-catalogue";
import type { Disclosure, EventObject } from "@resontech/contracts/audit-event";
import { ApiError } from "../api-error.ts";
import {
  auditedOperation,
  type FailureOutcome,
  type OpenOperation,
  type OperationDeps,
} from "../audited-operation.ts";
import { actorOf } from "../authorization/in-the-log.ts";
import type { OperatorCaller } from "../authorization/caller.ts";

export type ByOperatorDeps = OperationDeps & { caller: OperatorCaller };

/** Runs `effect` on record as the operator's; a personal value goes along as a commitment. */
export function byOperator<T extends OperationType, R>(
  deps: ByOperatorDeps,
  type: T,
  object: EventObject,
  detail: EventDetail<T>,
  effect: (operation: OpenOperation<T>) => Promise<R>,
  reason?: string,
): Promise<R> {
  const commit = committer();
  const draft = {
    ...{ type, op: randomUUID(), actor: actorOf(deps.caller, commit), object, detail },
    ...(reason === undefined
      ? {}
      : { pii: [{ field: "reason" as const, commitment: commit("pii.reason", reason) }] }),
  };
  const disclosures: readonly Disclosure[] = commit.disclosures;
  return auditedOperation(deps, draft, disclosures, failureOutcome, effect);
}

function failureOutcome(error: unknown): FailureOutcome {
  return { phase: "failed", code: error instanceof ApiError ? error.code : "internal_error" };
}
