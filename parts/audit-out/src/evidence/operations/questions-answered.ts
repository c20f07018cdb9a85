/** Which questions of the catalogue an operation answers, by the same searches as page and shell. Pure. */
import { QUESTION_IDS, type QuestionId, QUESTIONS } from "@resontech/contracts/audit-questions";
import { type EntryAlternative, searchOf } from "@resontech/contracts/audit-searches";
import { isByAdministrator } from "../../search/row-of-leaf.ts";
import type { Operation } from "./operation.ts";

/** Those that can be asked without naming a person or a job: a pack names none. */
export const QUESTIONS_OF_PACK: readonly QuestionId[] = QUESTION_IDS.filter(
  (question) => QUESTIONS[question].needs.length === 0,
);
const SEARCHES = QUESTIONS_OF_PACK.map((question) => ({
  question,
  alternatives: searchOf(question, {}).any,
}));

export function questionsAnswered(operation: Operation): QuestionId[] {
  return SEARCHES.filter(({ alternatives }) =>
    alternatives.some((alternative) => isFound(operation, alternative)),
  ).map(({ question }) => question);
}

/** Tells whether a search that names no person, object or deployment finds the operation. */
function isFound(operation: Operation, { types, refused, byAdministrator }: EntryAlternative) {
  return (
    (types === undefined || types.includes(operation.type)) &&
    (refused === undefined || operation.isRefused) &&
    (byAdministrator === undefined || isByAdministrator(operation))
  );
}
