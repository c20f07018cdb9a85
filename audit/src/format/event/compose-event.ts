import type { EventDraft } from "@resontech/contracts/audit-draft";
import { type Disclosure, MAX_EVENT_DEPTH, MAX_LEAF_BYTES } from "@resontech/contracts/audit-event";
import { disclosureViolation, ruleViolation } from "./event-rules.ts";
import { instantOf } from "./instant.ts";
import { CanonicalError, canonicalForm } from "./canonical-json.ts";
import { isEventType, schemaViolation } from "./event-schema.ts";
import { SCHEMA_SHA256 } from "./schema-digest.ts";
import { uuidV7 } from "./uuid-v7.ts";

/** The event breaks a rule of the log: a fault of the caller's code. `reason` is that of the `audit.rejected` leaf, where one was written. */
export class AuditRejected extends Error {
  override readonly name = "AuditRejected";
  readonly code = "audit_rejected";
  readonly reason: string;
  /** True when a refusal stands in the log in the event's place: its number is used, and the next event may follow. */
  readonly settled: boolean;

  constructor(reason: string, message: string, settled = false) {
    super(message);
    this.reason = reason;
    this.settled = settled;
  }
}

/** What auditd adds at most: `,"prod":"<63>"` and `,"t_log":"<24>"`. */
export const ADDED_BY_AUDITD_BYTES = 108;

/** An event ready to be sent, and to be kept in a row: resent byte for byte, it is the same event. */
export type ComposedEvent = {
  pseq: number;
  /** Canonical JSON. */
  event: string;
  disclosures: Disclosure[];
};

/**
 * Fills in what the producer adds and checks the event as auditd will, so that what is stored will be taken.
 * Synchronous: the coordinator calls it inside the transaction that the event belongs to.
 * @throws {@link AuditRejected}
 */
export function composeEvent(
  draft: EventDraft,
  place: { boot: string; pseq: number; nowMs?: number },
  disclosures: readonly Disclosure[] = [],
): ComposedEvent {
  const nowMs = place.nowMs ?? Date.now();
  const event = {
    ...draft,
    v: 1,
    id: uuidV7(nowMs),
    t: instantOf(nowMs),
    boot: place.boot,
    pseq: place.pseq,
    schema_sha256: SCHEMA_SHA256,
  };
  if (!isEventType(draft.type))
    throw new AuditRejected("type", `there is no event type ${JSON.stringify(draft.type)}`);
  let form: ReturnType<typeof canonicalForm>;
  try {
    form = canonicalForm(event, MAX_EVENT_DEPTH);
  } catch (error) {
    if (error instanceof CanonicalError)
      throw new AuditRejected(error.code, `${draft.type}: ${error.message}`);
    throw error;
  }
  const { text, value } = form;
  if (Buffer.byteLength(text) + ADDED_BY_AUDITD_BYTES > MAX_LEAF_BYTES)
    throw new AuditRejected("too_long", `${draft.type}: longer than ${MAX_LEAF_BYTES} bytes`);
  const violation = schemaViolation(draft.type, value);
  if (violation !== null) throw new AuditRejected("schema", `${draft.type}: ${violation}`);
  const refusal = ruleViolation(event) ?? disclosureViolation(event, disclosures);
  if (refusal !== null)
    throw new AuditRejected(refusal.reason, `${draft.type}: ${refusal.message}`);
  return { pseq: place.pseq, event: text, disclosures: [...disclosures] };
}
