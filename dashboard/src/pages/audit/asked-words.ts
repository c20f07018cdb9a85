/** What was asked of the log, as its answer says it above the entries. Pure. */
import { QUESTIONS } from "@resontech/contracts/audit-questions";
import type { Asked, EntryFilter } from "./asked.ts";
import { shownPerson, type Names } from "./named-people.ts";
import { type AskedPeriod, isPreset, PRESETS } from "./period.ts";

/** Fields of questions. */
export const QUESTION_LABELS: Readonly<Record<string, string>> = {
  ...{ data: "Data set", person: "Person", job: "Job", deployment: "Deployment" },
};
export const FILTER_LABELS: Readonly<Record<EntryFilter, string>> = {
  ...{ type: "Kind of event", concerns: "About whom", approval: "Approval", actor: "Who" },
  ...{ object: "To what", objectsOf: "Who touched job", outcome: "Outcome", op: "Operation" },
  ...{ holds: "Holds", below: "Objects below", from: "Not before", to: "Before" },
};
/** Of these a name may be written. */
export const OF_PEOPLE: ReadonlySet<string> = new Set(["person", "concerns", "actor"]);

/** @property id the pseudonym of whoever is named; null where the value stands for itself */
type AskedFact = { label: string; value: string; id: string | null };
type AskedWords = { title: string; facts: AskedFact[]; period: string };

/** @param names of people, where they are shown: else the log's own pseudonyms stand here */
export function askedWords({ question, about }: Asked, names: Names): AskedWords {
  const titles: Readonly<Record<string, { title: string }>> = QUESTIONS;
  const labels: Readonly<Record<string, string>> =
    question === null ? FILTER_LABELS : QUESTION_LABELS;
  const { from, to, ...rest } = about;
  return {
    title: question === null ? "What was searched for" : (titles[question]?.title ?? question),
    facts: Object.entries(rest).map(([name, value]) => {
      const shown = OF_PEOPLE.has(name) ? shownPerson(value, names) : value;
      return { label: labels[name] ?? name, value: shown, id: shown === value ? null : value };
    }),
    period: periodWords({
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    }),
  };
}

function periodWords(period: AskedPeriod): string {
  const [preset] = PRESETS.find(([, one]) => isPreset(period, one)) ?? [];
  if (preset !== undefined) return PERIODS[preset] ?? preset;
  const { from, to } = period;
  if (from === undefined) return `until ${to}`;
  return to === undefined ? `since ${from}` : `from ${from} to ${to}`;
}

const PERIODS: Readonly<Record<string, string>> = {
  ...{ Today: "today", "7 days": "in the last 7 days", "30 days": "in the last 30 days" },
  All: "in all that is kept",
};
