/** Which months are past their class's retention. */
import type { RetentionClasses } from "@resontech/contracts/vault-config";
import { ANONYMOUS } from "@resontech/audit/format/event/subject";

export type SubjectMonth = { subject: string; month: string };
export type RetentionClass = "disclosures" | "anonymous";

/** The first month that is kept: all of it was logged within the class's months before `nowMs`. */
export function firstKeptMonth(nowMs: number, months: number): string {
  const now = new Date(nowMs);
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1))
    .toISOString()
    .slice(0, "YYYY-MM".length);
}

export function monthsOf(
  kind: RetentionClass,
  { disclosuresMonths, anonymousMonths }: RetentionClasses,
): number {
  return kind === "anonymous" ? anonymousMonths : disclosuresMonths;
}

/** What of a class is over; what a legal hold covers is not. */
export function overdue<T extends SubjectMonth>(
  kind: RetentionClass,
  before: string,
  all: readonly T[],
  held: ReadonlySet<string>,
): T[] {
  return all.filter(
    ({ subject, month }) =>
      (subject === ANONYMOUS) === (kind === "anonymous") && month < before && !held.has(subject),
  );
}
