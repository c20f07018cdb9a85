import { type AuditProducer, committer } from "@resontech/audit/producer";
import { EVENT_CATALOGUE, type OperationType } from "@resontech/contracts/audit-catalogue";

/**
 * Closes what the last life of this process left open. What came of it the front can't know: the engine may have finished what it was given,
 * and the next listing counts it.
 */
export async function closeOpenOperations(producer: AuditProducer): Promise<number> {
  const open = await producer.openOperations();
  for (const { op, type: named } of open) {
    const type = named as OperationType;
    const { object: kind } = EVENT_CATALOGUE[type];
    const commit = committer();
    const id = kind === "object" ? commit("object.id", op) : op;
    const actor = { sub: "s3-front", kind: "system" } as const;
    const outcome = { code: "interrupted" };
    await producer.outcome(
      { type, op, actor, object: { kind, id }, phase: "failed", outcome },
      commit.disclosures,
    );
  }
  return open.length;
}
