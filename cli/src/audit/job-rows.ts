/** Rows of a question about a job: with where each entry came from. */
import type { AuditEventRow } from "@resontech/contracts/http-audit";
import { rowOf, SEARCH_HEAD } from "./search.ts";

/** How to read the rows. */
export const JOB_NOTES = [
  "Objects of the job: all in its folder, its logs and rounds, and its inputs elsewhere, also what never was there or is gone.",
  "BY unproven: who it was had yet to be proven. The end of the operation says so, and `audit show ENTRY` who was claimed.",
  "Not shown: which object and which address, which the log keeps sealed. FROM is the same for the same address.",
  "  audit search --holds src.addr=10.0.0.0/24 finds what came from known addresses, --holds object.id=bucket/key one object.",
].join("\n");

export const JOB_HEAD = [...SEARCH_HEAD.slice(0, -1), "FROM", ...SEARCH_HEAD.slice(-1)];

/** The last entry of an operation does not repeat where it came from: the first one says it for both. */
export function jobRows(events: readonly AuditEventRow[]): string[][] {
  const sources = new Map<string, string>();
  for (const { op, source } of events) if (source !== null) sources.set(op, source);
  return events.map((event) => [
    ...rowOf(event).slice(0, -1),
    sources.get(event.op) ?? "-",
    rowOf(event).at(-1)!,
  ]);
}
