import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { MAX_EVENT_DEPTH } from "@resontech/contracts/audit-event";
import { canonicalJson } from "./canonical-json.ts";

/** Canonical form has what auditd adds directly before these; no value that may follow holds such a text, because quotes within strings are escaped. */
const BEFORE_PSEQ = Buffer.from(',"pseq":');
const BEFORE_TYPE = Buffer.from(',"type":');

/**
 * The leaf: what a producer sent, with the two members that are auditd's in their places. The bytes are not read again for it.
 * @param sent canonical JSON that keeps the schema of its type: behind `pseq` stand `schema_sha256`, `src`, `t`, `type` and `v` alone
 */
export function leafOf(sent: Buffer, prod: string, tLog: string): Buffer {
  const pseqAt = sent.lastIndexOf(BEFORE_PSEQ);
  const typeAt = sent.lastIndexOf(BEFORE_TYPE);
  if (pseqAt === -1 || typeAt < pseqAt)
    throw new RangeError("no event: its members are not where they must be");
  const added = `,"prod":${JSON.stringify(prod)}`;
  const addedLater = `,"t_log":"${tLog}"`;
  const leaf = Buffer.allocUnsafe(sent.length + Buffer.byteLength(added) + addedLater.length);
  let at = sent.copy(leaf, 0, 0, pseqAt);
  at += leaf.write(added, at);
  at += sent.copy(leaf, at, pseqAt, typeAt);
  at += leaf.write(addedLater, at);
  sent.copy(leaf, at, typeAt);
  return leaf;
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
