import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { MAX_EVENT_DEPTH } from "@resontech/contracts/audit-event";
import { canonicalJson } from "./canonical-json.ts";

/** The leaf: what a producer sent, with the two members that are auditd's. */
export function leafText(sent: Record<string, unknown>, prod: string, tLog: string): string {
  return canonicalJson({ ...sent, prod, t_log: tLog }, MAX_EVENT_DEPTH);
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
