/** What a search asks for. Pure. */
import type { Mark } from "./marks-of-event.ts";

export type EventFilter = {
  order: "newest" | "oldest";
  type?: string;
  prod?: string;
  phase?: string;
  outcome?: string;
  op?: string;
  actor?: string;
  kind?: string;
  object?: string;
  on_behalf_of?: string;
  approval?: string;
  /** `"1"`: only what was refused, or what an administrator did. */
  refused?: "1";
  administrator?: "1";
  /** A person whom it is about, or a deployment that was called. */
  mark?: Mark;
  /** Entries of this object, and all others of an operation that has one. */
  opsOf?: string;
  /** With what the object's id begins. */
  objectPrefix?: string;
  /** Only entries in which this subject acted, or was acted for: the bound that a caller sets for somebody who may see no others. */
  sub?: string;
  /** Of values that the entry holds; hex: one at least of each list. They lead every search that they are part of. */
  tokens?: readonly (readonly string[])[];
  /** Milliseconds since 1970, auditd's clock: not before. */
  fromMs?: number;
  /** Before this. */
  toMs?: number;
};

/** Columns by how few entries a value of theirs has, as a rule: the first one that is asked for leads the search. */
export const LEADING_COLUMNS = [
  "op",
  "object",
  "approval",
  "on_behalf_of",
  "actor",
  "outcome",
  "refused",
  "administrator",
  "type",
  "phase",
  "prod",
  "kind",
] as const;
export type LeadingColumn = (typeof LEADING_COLUMNS)[number];

/** The columns that a filter binds, the leading one first. */
export function boundColumns(filter: EventFilter): LeadingColumn[] {
  return LEADING_COLUMNS.filter((column) => filter[column] !== undefined);
}

/** Spans from the first id that begins so to the first text behind all of them: no id has a character above `~`. */
export function idsThatBegin(prefix: string): [from: string, to: string] {
  return [prefix, `${prefix}~`];
}
