/** How an entry's fields are told. Pure. */
import type { AuditEventRow } from "@resontech/contracts/http-audit";
import type { StateWord } from "../../ui/state-word.ts";

/** `quota_exceeded`, `AccessDenied`: in words. */
export function codeWords(code: string): string {
  return code
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/[_.-]+/g, " ")
    .toLowerCase();
}

/** How it ended; null for what has only happened. */
export function outcomeWord({
  phase,
  outcome,
}: Pick<AuditEventRow, "phase" | "outcome">): StateWord | null {
  if (phase === "requested") return { word: "asked", tone: "wait", shape: "ring" };
  if (phase === "denied") return { word: "refused", tone: "bad", shape: "cross" };
  if (phase === "failed") return { word: "failed", tone: "bad", shape: "cross" };
  if (phase === "completed") return { word: "done", tone: "good", shape: "tick" };
  if (outcome === null || outcome === "ok") return null;
  return { word: "refused", tone: "bad", shape: "cross" };
}

/** Of these there is one. */
const KINDS: Readonly<Record<string, string>> = {
  appliance: "the appliance",
  log: "the log",
};

/** What an entry is about, before its id; null where the kind says all. */
export function objectWords({
  kind,
  object,
}: Pick<AuditEventRow, "kind" | "object">): [kind: string, id: string | null] {
  const said = KINDS[kind];
  return said !== undefined && (object === kind || kind === "log") ? [said, null] : [kind, object];
}

/** A value of an entry's detail. @param idWords tells an id */
function valueWords(value: unknown, idWords: (id: string) => string): string {
  if (value === null || value === undefined) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value))
    return value.length === 0 ? "none" : value.map((one) => valueWords(one, idWords)).join(", ");
  if (typeof value === "object")
    return Object.entries(value)
      .map(([name, one]) => `${codeWords(name)} ${valueWords(one, idWords)}`)
      .join(", ");
  return typeof value === "string" ? idWords(value) : JSON.stringify(value);
}

/** Facts of an entry's detail, as a list shows them. */
export function detailFacts(
  detail: Readonly<Record<string, unknown>>,
  idWords: (id: string) => string,
): [name: string, value: string][] {
  return Object.entries(detail).map(([name, value]) => [
    codeWords(name),
    valueWords(value, idWords),
  ]);
}
