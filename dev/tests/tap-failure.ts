/** One failure as text for the end of a run, where whoever sees only the last lines looks for what to repair. */
import { inspect } from "node:util";
import type { TapFailure } from "./tap-summary.ts";

/** Lines of diagnostics; the raw results hold the rest. */
const MAX_LINES = 60;
/** Of a long string (a program's output, say) the beginning names what ran and the end says how it failed. */
const HEAD_CHARACTERS = 400;
const TAIL_CHARACTERS = 2400;
const MAX_LISTED = 20;
const LISTED_CHARACTERS = 400;

/** @param verdict how the line begins */
export function describeFailure({ fullname, diagnostics }: TapFailure, verdict = "not ok"): string {
  const said = inspect(shortened(diagnostics), {
    depth: 4,
    breakLength: 120,
    maxStringLength: null,
  }).split("\n");
  return [`${verdict} ${fullname}`, ...said.slice(0, MAX_LINES).map((line) => `  ${line}`)].join(
    "\n",
  );
}

/** Every failure in a line, for whoever is shown no more than the end of what a run prints. */
export function listFailures(failures: readonly TapFailure[], verdict = "not ok"): string {
  const lines = failures
    .slice(0, MAX_LISTED)
    .map(
      ({ fullname }) =>
        `${verdict} ${fullname.replaceAll(/\s+/g, " ").slice(0, LISTED_CHARACTERS)}`,
    );
  const left = failures.length - lines.length;
  return [...lines, ...(left > 0 ? [`and ${left} more`] : [])].join("\n");
}

function shortened(value: unknown): unknown {
  if (typeof value === "string") return shortenedText(value);
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner)]));
}

function shortenedText(text: string): string {
  const left = text.length - HEAD_CHARACTERS - TAIL_CHARACTERS;
  if (left <= 0) return text;
  return `${text.slice(0, HEAD_CHARACTERS)}\n[${left} characters left out]\n${text.slice(-TAIL_CHARACTERS)}`;
}
