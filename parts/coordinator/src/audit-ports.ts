/** How the coordinator's parts reach its two producers; composition fills these in. */
import type { AuditProducer } from "@resontech/audit/producer";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { Disclosure } from "@resontech/contracts/audit-event";
import type { WriteHandle } from "./db/open-database.ts";

/** The acknowledged `*.requested` that allows an effect; `unwitnessed` stands in its outcome. */
export type GateProof = { op: string; index: number; leafHash: string; unwitnessed: boolean };

/** Durable before anything happens or is answered. */
export type AuditGate = Pick<AuditProducer, "requested" | "fact">;

/** Writes an event into `audit_outbox`, inside the caller's transaction. */
export type RecordEvent = (
  db: WriteHandle,
  draft: EventDraft,
  disclosures?: readonly Disclosure[],
) => void;
