/** `resontech audit ask`: the API's catalogue of questions, from a shell. */
import {
  QUESTION_IDS,
  type QuestionId,
  type QuestionParameter,
  QUESTIONS,
} from "@resontech/contracts/audit-questions";
import { getJson } from "../api-client.ts";
import { UsageError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";
import { type Found, type Paged, pagesOf } from "./search.ts";

/** Names of older releases. */
const REPORTS: Readonly<Record<string, QuestionId>> = {
  job: "job",
  refused: "refused",
  exports: "left",
  admin: "administrators",
};
export const REPORT_NAMES = Object.keys(REPORTS);

export type Asked = Partial<Record<QuestionParameter | "from" | "to", string>>;

/** @throws CliError `search_invalid` and what else the API says */
export async function askQuestion(
  settings: Settings,
  question: string,
  asked: Asked & Paged,
): Promise<Found> {
  const params = { question: questionOf(question) };
  return await pagesOf(asked, async (query) => {
    return await getJson(settings, "/api/audit/questions/{question}", { params, query });
  });
}

/** @throws CliError `question_unknown` */
export function questionOf(name: string): QuestionId {
  const found = QUESTION_IDS.find((id) => id === name);
  if (found === undefined)
    throw new UsageError(
      "question_unknown",
      `there is no question ${name}`,
      `There are ${QUESTION_IDS.join(", ")}.`,
    );
  return found;
}

/** The question that took a report's place. @throws CliError `report_unknown` */
export function questionOfReport(name: string): QuestionId {
  const found = Object.hasOwn(REPORTS, name) ? REPORTS[name] : undefined;
  if (found === undefined)
    throw new UsageError(
      "report_unknown",
      `there is no report ${name}`,
      `There are ${REPORT_NAMES.join(", ")}; resontech audit questions lists more.`,
    );
  return found;
}

export function questionRows(): string[][] {
  return QUESTION_IDS.map((id) => {
    const {
      title,
      needs,
      takes,
    }: { title: string; needs: readonly string[]; takes: readonly string[] } = QUESTIONS[id];
    const parameters = [...needs.map((name) => `--${name}`), ...takes.map((name) => `[--${name}]`)];
    return [id, parameters.join(" ") || "-", title];
  });
}
