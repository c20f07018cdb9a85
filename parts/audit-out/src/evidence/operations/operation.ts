/** An operation as a pack shows it: what was asked for and what became of it, in one. A fact is one, too: it needs no second entry. */
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import type { ResultWord } from "./entry-result.ts";

/** Of an entry, in the shards of a pack. */
export type EntryPlace = {
  shard: string;
  index: number;
  /** Of the leaf, hex. */
  hash: string;
};

export type Operation = {
  /** The request, or the fact. */
  entry: EntryPlace;
  /** Null of a fact, and while there is none. */
  outcome: EntryPlace | null;
  /** By the log's clock. */
  askedAt: string;
  endedAt: string | null;
  /** Milliseconds between both, by the log's clock. */
  durationMs: number | null;
  type: AuditEvent["type"];
  /** `open`: no outcome of it stands in the shards of the pack. */
  result: Exclude<ResultWord, "asked"> | "open";
  code: string;
  status: number | null;
  actor: AuditEvent["actor"];
  onBehalfOf: string;
  /** Who the request said it came from, or who was named beside it: nothing proves it. */
  claimed: string;
  /** Of what needs a second person: who asked, who agreed, by which request. */
  asker: string;
  approvers: string[];
  approval: string;
  object: AuditEvent["object"];
  /** The process that told it. */
  source: string;
  /** A commitment. */
  address: string;
  /** No witness had countersigned the request when it was done. */
  isUnwitnessed: boolean;
  isRefused: boolean;
  /** What the request and the outcome say beyond the envelope; the outcome's word holds. */
  detail: Readonly<Record<string, unknown>>;
};

/** How many entries of the log it is. */
export function entriesOf({ outcome }: Operation): 1 | 2 {
  return outcome === null ? 1 : 2;
}

/** Names an entry as tables of a pack name it: `2026:300`. */
export function placeText({ shard, index }: EntryPlace): string {
  return `${shard}:${index}`;
}
