/**
 * The closed catalogue of audit event types: which phases each may have, whom its object names, what its `detail` says.
 * docs/auditor/events.md lists the same types; a test fails when they differ. A type never changes meaning.
 * Each subject is a file of `catalogue/`.
 */
import { type Static, type TSchema, Type } from "typebox";
import type { JobState } from "../job/job-states.ts";
import { ENVELOPE_FIELDS } from "./audit-event.ts";
import { ADMIN_EVENTS } from "./catalogue/admin.ts";
import { DATA_EVENTS } from "./catalogue/data.ts";
import { IDENTITY_EVENTS } from "./catalogue/identity.ts";
import { IMAGE_EVENTS } from "./catalogue/image.ts";
import { JOB_EVENTS } from "./catalogue/job.ts";
import { KEY_EVENTS } from "./catalogue/key.ts";
import { LOG_EVENTS } from "./catalogue/log.ts";
import { MODEL_EVENTS } from "./catalogue/model.ts";
import { NODE_EVENTS } from "./catalogue/node.ts";
import { OBJECT_STORE_EVENTS } from "./catalogue/object-store.ts";
import { PRIVACY_EVENTS } from "./catalogue/privacy.ts";
import { type CatalogueEntry } from "./catalogue/entry.ts";
import { closed } from "../closed.ts";

export type { CatalogueEntry } from "./catalogue/entry.ts";
export { MAX_MEASURED_FILES } from "./catalogue/admin.ts";
export { MAX_CALLED } from "./catalogue/model.ts";
export { MAX_EXPORTED_SHARDS, MAX_HEARTBEAT_PRODUCERS } from "./catalogue/log.ts";

export const EVENT_CATALOGUE = {
  ...IDENTITY_EVENTS,
  ...JOB_EVENTS,
  ...NODE_EVENTS,
  ...KEY_EVENTS,
  ...DATA_EVENTS,
  ...OBJECT_STORE_EVENTS,
  ...MODEL_EVENTS,
  ...IMAGE_EVENTS,
  ...PRIVACY_EVENTS,
  ...ADMIN_EVENTS,
  ...LOG_EVENTS,
} as const satisfies Record<string, CatalogueEntry>;

export type EventType = keyof typeof EVENT_CATALOGUE;
export const EVENT_TYPES = Object.keys(EVENT_CATALOGUE) as EventType[];
export type EventDetail<T extends EventType = EventType> = Static<
  (typeof EVENT_CATALOGUE)[T]["detail"]
>;

/** The record that each arrival in a job state writes. */
export const JOB_STATE_EVENT = {
  ACCEPTED: "job.accepted",
  QUEUED: "job.queued",
  HELD: "job.held",
  RESERVED: "job.placed",
  PROVISIONING: "job.provisioning",
  STAGING: "job.staging",
  RUNNING: "job.started",
  PREEMPTING: "job.preempting",
  RECOVERING: "job.recovering",
  FINALIZING: "job.finalizing",
  STOPPING: "job.stopping",
  SUCCEEDED: "job.finished",
  FAILED: "job.failed",
  CANCELLED: "job.cancelled",
  EXPIRED: "job.expired",
  REJECTED: "job.rejected",
} as const satisfies Record<JobState, EventType>;

/** Types that a `requested` may open. */
export type OperationType = {
  [T in EventType]: "requested" extends (typeof EVENT_CATALOGUE)[T]["phases"][number] ? T : never;
}[EventType];
/** Types that may stand alone. */
export type FactType = {
  [T in EventType]: "fact" extends (typeof EVENT_CATALOGUE)[T]["phases"][number] ? T : never;
}[EventType];

/** The whole closed schema of one type, as a leaf has it. */
export function leafSchema(type: EventType): TSchema {
  return Type.Object({ ...ENVELOPE_FIELDS, ...narrowed(type) }, closed);
}

/** The same as a producer sends it: without what auditd adds. */
export function sentSchema(type: EventType): TSchema {
  const { prod: _prod, t_log: _tLog, ...sent } = ENVELOPE_FIELDS;
  return Type.Object({ ...sent, ...narrowed(type) }, closed);
}

function narrowed(type: EventType) {
  const entry: CatalogueEntry = EVENT_CATALOGUE[type];
  return {
    type: Type.Literal(type),
    phase: Type.Enum([...entry.phases]),
    detail: Type.Optional(entry.detail),
  };
}
