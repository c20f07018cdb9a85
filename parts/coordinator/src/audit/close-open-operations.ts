import { type AuditProducer, committer } from "@resontech/audit/producer";
import { EVENT_CATALOGUE, EVENT_TYPES, type EventType } from "@resontech/contracts/audit-catalogue";
import type { GroupCommit } from "../db/group-commit.ts";
import type { WriteHandle } from "../db/open-database.ts";
import { COORDINATOR_ACTOR } from "../authorization/in-the-log.ts";
import type { RecordOutbox } from "./record-outbox.ts";

/**
 * Closes what the last life of this process left open. The outcome of an operation is a row of the transaction that was its effect:
 * one that has such a row will be told by the pump, one that has none was interrupted before it changed anything.
 */
export async function closeOpenOperations({
  db,
  commit,
  gate,
  records,
}: {
  db: WriteHandle;
  commit: GroupCommit;
  gate: AuditProducer;
  records: RecordOutbox;
}): Promise<void> {
  const open = await gate.openOperations();
  if (open.length === 0) return;
  const told = db
    .prepare<[string], number>(
      "SELECT 1 FROM audit_outbox WHERE event ->> '$.op' = ? AND event ->> '$.phase' <> 'fact' LIMIT 1",
    )
    .pluck();
  await commit.run(() => {
    for (const { op, type } of open) {
      if (!isEventType(type) || told.get(op) === 1) continue;
      const { object: kind } = EVENT_CATALOGUE[type];
      const commitTo = committer();
      const id = kind === "object" ? commitTo("object.id", op) : op;
      records.write(
        {
          type,
          phase: "failed",
          op,
          actor: COORDINATOR_ACTOR,
          object: { kind, id },
          outcome: { code: "interrupted" },
        },
        commitTo.disclosures,
      );
    }
  });
}

function isEventType(type: string): type is EventType {
  return (EVENT_TYPES as readonly string[]).includes(type);
}
