/** An audit event as a caller states it, and as a reader of the log finds it. */
import type { EventDetail, EventType } from "./audit-catalogue.ts";
import type { Actor, EventObject, EventPhase, Outcome, PiiField } from "./audit-event.ts";

/** What a caller states; the producer adds `v`, `id`, `t`, `boot`, `pseq` and `schema_sha256`, auditd adds `prod` and `t_log`. */
export type EventDraft<T extends EventType = EventType> = {
  type: T;
  phase: EventPhase;
  op: string;
  actor: Actor;
  on_behalf_of?: string;
  src?: { addr?: string; agent?: string };
  action?: string;
  object: EventObject;
  decision?: { effect: "allow" | "deny"; policy_set_sha256?: string; policy_ids?: string[] };
  outcome?: Outcome;
  digests?: { input?: string; output?: string; model?: string; image?: string };
  pii?: { field: PiiField; commitment: string }[];
  detail?: EventDetail<T>;
};

/** One leaf, parsed. */
export type AuditEvent = Omit<EventDraft, "detail"> & {
  v: 1;
  id: string;
  t: string;
  t_log: string;
  prod: string;
  boot: string;
  pseq: number;
  schema_sha256: string;
  detail?: Record<string, unknown>;
};
