/** An operation as a line of `operations.csv`. */
import type { Operation } from "./operation.ts";
import { placeText } from "./operation.ts";

export const OPERATION_COLUMNS = [
  ...["entry", "outcome entry", "asked at", "ended at", "duration ms", "type", "result", "code"],
  ...["status", "actor kind", "actor", "on behalf of", "claimed", "asker", "approvers"],
  ...["approval", "object kind", "object", "source", "address", "leaf hash", "outcome leaf hash"],
  ...["questions", "controls"],
];

/** @param answers ids of questions and controls, as the catalogue has them */
export function operationRow(
  operation: Operation,
  answers: { controls: readonly string[]; questions: readonly string[] },
): (string | number)[] {
  const { entry, outcome, askedAt, endedAt, durationMs, type, result, code, status } = operation;
  const { actor, onBehalfOf, claimed, asker, approvers, approval, object } = operation;
  return [
    ...[placeText(entry), outcome === null ? "" : placeText(outcome), askedAt, endedAt ?? ""],
    ...[durationMs ?? "", type, result, code, status ?? "", actor.kind, actor.sub, onBehalfOf],
    ...[claimed, asker, approvers.join("; "), approval, object.kind, object.id],
    ...[operation.source, operation.address, entry.hash, outcome?.hash ?? ""],
    ...[answers.questions.join("; "), answers.controls.join("; ")],
  ];
}
