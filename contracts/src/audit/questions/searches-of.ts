/** A question as searches of the log's index. Pure: what nobody could answer is refused before, by {@link questionObjection}. */
import type { EventType } from "../audit-catalogue.ts";
import { typesThatAnswer } from "./event-answers.ts";
import {
  QUESTION_PARAMETERS,
  type QuestionId,
  type QuestionParameter,
  QUESTIONS,
} from "./questions.ts";

/** Entries that one alternative finds: all members hold together. */
export type EntryAlternative = {
  types?: EventType[];
  actor?: string;
  /** For whom a program acted. */
  onBehalfOf?: string;
  /** A person whom the entry is about. */
  concerns?: string;
  refused?: true;
  /** Whoever acted holds the role of an administrator, or was root at the host. */
  byAdministrator?: true;
  /** Entries of this object, and of every operation that has one. */
  opsOf?: string;
  /** Objects of the store that are this job's: whoever asks says which. */
  objectsOf?: string;
  deployment?: string;
};

/** Entries that any alternative finds, within `below` or `holds` where they stand. */
export type QuestionSearch = { any: EntryAlternative[]; below?: string; holds?: string };

export type QuestionValues = Partial<Record<QuestionParameter, string>>;

const ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;
const DATA = /^[^/]+\/.*$/;

/** Why these values make no question that can be answered, and what would; null when nothing is in the way. */
export function questionObjection(question: QuestionId, values: QuestionValues): string | null {
  const { needs, takes }: { needs: readonly string[]; takes: readonly string[] } =
    QUESTIONS[question];
  for (const [name, value] of Object.entries(values) as [QuestionParameter, string][]) {
    if (!needs.includes(name) && !takes.includes(name))
      return `${question} takes no ${name}: it takes ${[...needs, ...takes].join(", ") || "a time alone"}`;
    if (!(name === "data" ? DATA : ID).test(value))
      return `${name} ${JSON.stringify(value)} can match no entry: it is ${QUESTION_PARAMETERS[name]}`;
  }
  const missing = needs.find((name) => values[name as QuestionParameter] === undefined);
  return missing === undefined
    ? null
    : `${question} needs ${missing}: ${QUESTION_PARAMETERS[missing as QuestionParameter]}`;
}

export function searchOf(question: QuestionId, values: QuestionValues): QuestionSearch {
  const { data, person, job, deployment } = values;
  const types = typesThatAnswer(question);
  const within =
    data === undefined ? {} : data.endsWith("/") ? { below: data } : { holds: `object.id=${data}` };
  switch (question) {
    case "person":
      return { any: [{ actor: person! }, { onBehalfOf: person! }, { concerns: person! }] };
    case "job":
      return { any: [{ opsOf: job! }, { objectsOf: job! }] };
    case "refused":
      return {
        any:
          person === undefined
            ? [{ refused: true }]
            : [
                { refused: true, actor: person },
                { refused: true, onBehalfOf: person },
              ],
      };
    case "administrators":
      return { any: [{ byAdministrator: true }, { types }] };
    case "rights":
      return { any: [{ types, ...(person === undefined ? {} : { concerns: person }) }] };
    case "model":
      // Keys and outbound calls of a deployment have it as their object; a batch of calls names those that were called.
      return {
        any:
          deployment === undefined
            ? [{ types }]
            : [
                { types, deployment },
                { types, opsOf: deployment },
              ],
      };
    default:
      return { any: [{ types }], ...within };
  }
}
