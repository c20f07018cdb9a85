/** What the page's address asks of the log: a question or a search, and its period. Pure. */
import { QUESTION_PARAMETERS } from "@resontech/contracts/audit-questions";

export const FILTERS = [
  "type",
  "actor",
  "concerns",
  "approval",
  "object",
  "objectsOf",
  "outcome",
  "op",
  "holds",
  "below",
  "from",
  "to",
] as const;
export type EntryFilter = (typeof FILTERS)[number];

const OF_QUESTIONS = [...Object.keys(QUESTION_PARAMETERS), "from", "to"];

/**
 * @property question null: a search by fields
 * @property about the question's values, or the search's filters, with the period
 * @property at when somebody asked; null: nobody has, and nothing is looked at
 */
export type Asked = {
  question: string | null;
  about: Readonly<Record<string, string>>;
  at: string | null;
};

export function askedOf(search: URLSearchParams): Asked {
  const question = search.get("question");
  const about = (question === null ? FILTERS : OF_QUESTIONS).flatMap((name) => {
    const value = search.get(name);
    return value === null || value === "" ? [] : [[name, value]];
  });
  return { question, about: Object.fromEntries(about), at: search.get("asked") };
}

/** An address that asks at once: to follow it is a look into the log. */
export function askingPath(about: Readonly<Record<string, string>>, now: number): string {
  return `/audit?${new URLSearchParams({ ...about, asked: String(now) }).toString()}`;
}
