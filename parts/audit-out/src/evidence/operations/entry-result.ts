/** What became of what an entry tells, in one word and its code: for tables in which no row may leave it open. Pure. */
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { isRefused } from "@resontech/contracts/audit-refusals";

/** `asked`: the outcome has an entry of its own. `recorded`: it tells what was so, and nothing that could have failed. */
export type ResultWord = "asked" | "done" | "refused" | "failed" | "recorded";
export type EntryResult = { result: ResultWord; code: string };

const NO_CODE = "none";
/** Members of a detail that say why, where an entry has no outcome. */
const REASONS = ["code", "reason"] as const;

export function resultOf(event: AuditEvent): EntryResult {
  const { phase, outcome, detail } = event;
  const said: Readonly<Record<string, unknown>> = detail ?? {};
  const reason = REASONS.map((name) => said[name]).find((value) => typeof value === "string");
  const code = outcome?.code ?? (typeof reason === "string" ? reason : NO_CODE);
  return { result: wordOf(event, phase === "requested", outcome?.code), code };
}

function wordOf(event: AuditEvent, isAsked: boolean, code: string | undefined): ResultWord {
  if (isAsked) return "asked";
  if (isRefused(event)) return "refused";
  if (event.phase === "failed") return "failed";
  if (code === undefined) return event.phase === "completed" ? "done" : "recorded";
  return code === "ok" ? "done" : "failed";
}
