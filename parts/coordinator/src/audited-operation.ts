import type { EventDetail, FactType, OperationType } from "@resontech/contracts/audit-catalogue";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { Disclosure, EventObject, PiiField } from "@resontech/contracts/audit-event";
import type { Decision } from "@resontech/contracts/policies";
import type { AuditGate, GateProof, RecordEvent } from "./audit-ports.ts";
import type { GroupCommit } from "./db/group-commit.ts";
import type { WriteHandle } from "./db/open-database.ts";

/** An object of the S3 engine is named by its path, which is committed; what has no id yet by its operation; all else by an id of ours. */
export type AuditedObject = EventObject | { path: string } | Pick<EventObject, "kind">;

/** What an event says beyond who asked. */
export type EventParts<T extends OperationType | FactType> = {
  type: T;
  object: AuditedObject;
  /** By which policies it was let through or refused, where one was asked beyond the route's own access. */
  decision?: Decision;
  detail?: EventDetail<T>;
  /** Personal values, each named once; they are committed. */
  pii?: Partial<Record<PiiField, string>>;
};

/** Runs operations in the name of whoever asked. */
export type OperationRunner = {
  /** @throws AuditUnavailable before the effect */
  operation<T extends OperationType, R>(
    parts: EventParts<T>,
    effect: (operation: OpenOperation<T>) => Promise<R>,
  ): Promise<R>;
};

/** An operation whose `requested` is durable. */
export type OpenOperation<T extends OperationType = OperationType> = {
  proof: GateProof;
  /** What the outcome says beyond its code; before it is closed. */
  tell: (detail: EventDetail<T>) => void;
  /** Closes it as completed, in the transaction of the change. */
  completeIn: (db: WriteHandle) => void;
  /** Says that the function called wrote the outcome itself. */
  closedElsewhere: () => void;
};

/** How a failure stands in the log. */
export type FailureOutcome = { phase: "failed" | "denied"; code: string; status?: number };

export type OperationDeps = {
  gate: Pick<AuditGate, "requested">;
  record: RecordEvent;
  commit: GroupCommit;
};

/**
 * Runs `effect` between a durable `requested` and exactly one outcome. What it throws closes the operation and is thrown on.
 * @throws AuditUnavailable before the effect
 */
export async function auditedOperation<T extends OperationType, R>(
  { gate, record, commit }: OperationDeps,
  draft: Omit<EventDraft<T>, "phase">,
  disclosures: readonly Disclosure[],
  outcomeOf: (error: unknown) => FailureOutcome,
  effect: (operation: OpenOperation<T>) => Promise<R>,
): Promise<R> {
  const { type, op, actor, on_behalf_of, object } = draft;
  const { index, leafHash, unwitnessed } = await gate.requested(draft, disclosures);
  // A commitment is opened by what came with the request; the outcome repeats none.
  const { sid: _sid, ...who } = actor;
  const base = {
    type,
    op,
    actor: who,
    object,
    ...(on_behalf_of === undefined ? {} : { on_behalf_of }),
  };
  let isClosed = false;
  let told: EventDetail<T> | null = null;
  const tell = (detail: EventDetail<T>) => {
    told = detail;
  };
  const completeIn = (db: WriteHandle) => {
    record(db, {
      ...base,
      phase: "completed",
      outcome: { code: "ok", ...(unwitnessed ? { unwitnessed } : {}) },
      ...(told === null ? {} : { detail: told }),
    });
    isClosed = true;
  };
  const closedElsewhere = () => {
    isClosed = true;
  };
  let result: R;
  try {
    result = await effect({
      proof: { op, index, leafHash, unwitnessed },
      tell,
      completeIn,
      closedElsewhere,
    });
  } catch (error) {
    const { phase, code, status } = outcomeOf(error);
    await commit.run((db) =>
      record(db, {
        ...base,
        phase,
        outcome: { code, ...(status === undefined ? {} : { status }) },
      }),
    );
    throw error;
  }
  if (!isClosed) await commit.run(completeIn);
  return result;
}
