import type { AuditEvent } from "@resontech/contracts/audit-draft";

/** One entry on its way out, with what ties it to the log. */
export type ExportedEvent = {
  event: AuditEvent;
  /** The leaf, byte for byte: what `leafHash` is the hash of. */
  leaf: string;
  index: number;
  /** Hex of SHA-256(0x00 ‖ leaf). */
  leafHash: string;
  origin: string;
  /** Of a signed tree that holds it. */
  treeSize: number;
};

export const VENDOR = "ResonTech";
export const PRODUCT = "Sovereign Appliance";
/** Of the exported forms, not of the release: it changes when a field changes its meaning. */
export const FORMAT_VERSION = "2";

/** How grave, from 0 to 10, as CEF and LEEF count. */
export function severityOf({ type, phase }: AuditEvent): number {
  if (GRAVE.has(type)) return 9;
  if (phase === "denied") return 6;
  return phase === "failed" || REFUSALS.has(type) ? 5 : 2;
}

/** The log itself is in question. */
const GRAVE: ReadonlySet<string> = new Set([
  "audit.lost",
  "audit.rejected",
  "audit.wal.cut",
  "audit.witness.lag",
  "audit.disk",
]);
const REFUSALS: ReadonlySet<string> = new Set([
  "auth.failure",
  "auth.refused",
  "data.object.refused",
  "data.bucket.refused",
  "privacy.refusal",
  "job.rejected",
]);
