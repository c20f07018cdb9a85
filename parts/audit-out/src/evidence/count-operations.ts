/** Counts operations by control, by question, and what was refused by type and code. Pure. */
import { QUESTIONS } from "@resontech/contracts/audit-questions";
import type { Framework } from "./control-map.ts";
import { entriesOf, type Operation, placeText } from "./operations/operation.ts";
import { QUESTIONS_OF_PACK, questionsAnswered } from "./operations/questions-answered.ts";
import type { Counted, ControlFindings, QuestionFindings } from "./pack-scope.ts";
import { type RefusalKind, Refusals } from "./refusals.ts";

const NONE = { count: 0, refused: 0, failed: 0, open: 0 } as const;

export class OperationCounts {
  readonly controls: readonly ControlFindings[];
  readonly questions: readonly QuestionFindings[];
  readonly #types: ReadonlySet<string>[];
  readonly #refusals = new Refusals();
  /** Operations that bear on any control, each once. */
  readonly all: Counted = { ...NONE };

  constructor({ controls }: Framework) {
    this.controls = controls.map(({ id, title, limits }) => ({
      ...{ id, title, limits, ...NONE, entries: 0, sources: new Map<string, number>() },
      ...{ first: null, last: null },
    }));
    this.#types = controls.map(({ types }) => new Set(types));
    this.questions = QUESTIONS_OF_PACK.map((question) => ({
      ...{ question, title: QUESTIONS[question].title, ...NONE },
    }));
  }

  /** @returns on which controls it bears and which questions it answers; null where it bears on none, and is not counted */
  note(operation: Operation): { controls: string[]; questions: string[] } | null {
    const { type, result, code, source, entry } = operation;
    const bearing = this.controls.filter((_, at) => this.#types[at]!.has(type));
    if (bearing.length === 0) return null;
    count(this.all, operation);
    if (result === "refused") this.#refusals.note(type, code, placeText(entry));
    for (const finding of bearing) {
      count(finding, operation);
      finding.entries += entriesOf(operation);
      finding.sources.set(source, (finding.sources.get(source) ?? 0) + 1);
      finding.first ??= placeText(entry);
      finding.last = placeText(entry);
    }
    const answered = questionsAnswered(operation);
    for (const finding of this.questions)
      if (answered.includes(finding.question)) count(finding, operation);
    return { controls: bearing.map(({ id }) => id), questions: answered };
  }

  get refusals(): RefusalKind[] {
    return this.#refusals.kinds;
  }
}

function count(into: Counted, { result }: Operation): void {
  into.count += 1;
  if (result === "refused" || result === "failed" || result === "open") into[result] += 1;
}
