import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { MAX_EVENT_DEPTH } from "@resontech/contracts/audit-event";
import { canonicalJson, joinMembers } from "./canonical-json.ts";

/** The leaf: the canonical members that a producer sent, with the two that are auditd's. */
export function leafText(members: readonly [string, string][], prod: string, tLog: string): string {
  return joinMembers([...members, ["prod", JSON.stringify(prod)], ["t_log", JSON.stringify(tLog)]]);
}

/** A leaf of our own log: it was checked when it was written, and its hash when it was read. */
export function parseLeaf(leaf: Buffer): AuditEvent {
  return JSON.parse(leaf.toString("utf8")) as AuditEvent;
}

/** What the producer sent, byte for byte, from the leaf that became of it. */
export function sentText(leaf: Buffer): string {
  const { prod: _prod, t_log: _tLog, ...sent } = parseLeaf(leaf);
  return canonicalJson(sent, MAX_EVENT_DEPTH);
}
