/**
 * OCSF 1.8.0 JSON. `raw_data` is the leaf, `unmapped` what ties it to the log; `metadata.uid` is the event's id, by which a receiver that gets an event twice
 * knows it.
 */
import { type CatalogueEntry, EVENT_CATALOGUE } from "@resontech/contracts/audit-catalogue";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import type { Actor } from "@resontech/contracts/audit-event";
import {
  type ExportedEvent,
  FORMAT_VERSION,
  PRODUCT,
  severityOf,
  VENDOR,
} from "../exported-event.ts";
import { approvalOf } from "../approval-of.ts";
import { categoryOf, OCSF_CLASSES, type OcsfClass, type OcsfMeaning } from "./classes.ts";
import { meaningOf } from "./meanings.ts";

const OTHER = "Other";
const SCHEMA_VERSION = "1.8.0";
const PROFILES: Partial<Record<OcsfClass, string>> = { model: "ai_operation", application: "host" };
/** Type ids of OCSF's user: a person, the system itself, a service account. */
const USER_TYPES: Record<Actor["kind"], { type_id: number; type: string }> = {
  user: { type_id: 1, type: "User" },
  operator: { type_id: 2, type: "Admin" },
  system: { type_id: 3, type: "System" },
  key: { type_id: 4, type: "Service" },
  node: { type_id: 4, type: "Service" },
  anonymous: { type_id: 0, type: "Unknown" },
};
const SERVER = { type_id: 1, type: "Server" };
const S3_BUCKET = { type_id: 1, type: "S3" };
const REGULAR_FILE = { type_id: 1, type: "Regular File" };

export function ocsfLine(exported: ExportedEvent): string {
  return JSON.stringify(ocsfEvent(exported));
}

export function ocsfEvent(exported: ExportedEvent): Record<string, unknown> {
  const { event, leaf, index, leafHash, origin, treeSize } = exported;
  const meaning = meaningOf(event.type);
  const { uid: classUid, name: className } = OCSF_CLASSES[meaning.class];
  const activities: Record<string, number> = OCSF_CLASSES[meaning.class].activities;
  const activityId = activities[meaning.activity] ?? 99;
  const activityName = meaning.activity === OTHER ? event.type : meaning.activity;
  const category = categoryOf(classUid);
  return {
    ...{
      activity_id: activityId,
      activity_name: activityName,
      category_uid: category.uid,
      category_name: category.name,
    },
    ...{
      class_uid: classUid,
      class_name: className,
      type_uid: classUid * 100 + activityId,
      type_name: `${className}: ${activityName}`,
    },
    time: Date.parse(event.t_log),
    ...severity(event),
    ...status(event),
    ...repeats(event),
    message: (EVENT_CATALOGUE as Record<string, CatalogueEntry>)[event.type]?.meaning ?? event.type,
    metadata: {
      version: SCHEMA_VERSION,
      ...{
        uid: event.id,
        correlation_uid: event.op,
        event_code: event.type,
        original_time: event.t,
        log_name: origin,
      },
      product: { name: PRODUCT, vendor_name: VENDOR, version: FORMAT_VERSION },
      ...(PROFILES[meaning.class] === undefined ? {} : { profiles: [PROFILES[meaning.class]] }),
    },
    ...subjectOf(meaning, exported),
    raw_data: leaf,
    unmapped: {
      log_index: index,
      leaf_hash: leafHash,
      origin,
      tree_size: treeSize,
      phase: event.phase,
    },
  };
}

/** What only this class says: who, and about what. */
function subjectOf(
  { class: name }: OcsfMeaning,
  { event, origin }: ExportedEvent,
): Record<string, unknown> {
  const actor = { actor: actorOf(event) };
  const source = { src_endpoint: endpointOf(event) };
  const device = { device: { ...SERVER, uid: originHost(origin), name: originHost(origin) } };
  const { kind, id } = event.object;
  switch (name) {
    case "account":
      return { ...actor, ...source, user: { uid: id, type_id: 1, type: "User" } };
    case "authentication":
      return { ...actor, ...source, user: userOf(event), service: { name: PRODUCT } };
    case "entity":
      return { ...actor, ...source, entity: { uid: id, type: kind } };
    case "eventLog":
      return { ...actor, ...source, ...device, log_name: origin };
    case "configState":
      return { ...actor, ...device };
    case "application":
      return { ...actor, ...device, app: { uid: id, name: id, vendor_name: VENDOR } };
    case "api":
    case "model":
      return {
        ...actor,
        ...source,
        api: { operation: event.action ?? event.type, service: { name: event.prod } },
        resources: [{ uid: id, type: kind }],
      };
    case "datastore":
      return { ...actor, ...source, databucket: { ...S3_BUCKET, uid: id } };
    case "file":
      return { ...actor, ...source, file: { ...REGULAR_FILE, uid: id, name: id } };
  }
}

/** Who, with which roles, in which session, and by whose leave. */
function actorOf(event: AuditEvent): Record<string, unknown> {
  const { sid } = event.actor;
  const authorizations = authorizationsOf(event);
  return {
    ...{ user: userOf(event), app_name: event.prod },
    ...(sid === undefined ? {} : { session: { uid: sid } }),
    ...(authorizations.length === 0 ? {} : { authorizations }),
  };
}

/** `credential_uid` is the key pair or the client; `account` the user for whom a key acted. */
function userOf({ actor, on_behalf_of: behalf }: AuditEvent): Record<string, unknown> {
  const { sub, kind, roles = [], azp } = actor;
  return {
    ...{ uid: sub, ...USER_TYPES[kind] },
    ...(roles.length === 0 ? {} : { groups: roles.map((name) => ({ name, type: "role" })) }),
    ...(azp === undefined ? {} : { credential_uid: azp }),
    ...(behalf === undefined ? {} : { account: { uid: behalf } }),
  };
}

/** The policies that decided, then the request by which it was done. */
function authorizationsOf(event: AuditEvent): object[] {
  const { decision } = event;
  const approval = approvalOf(event);
  const version = decision?.policy_set_sha256;
  const policies = (decision?.policy_ids ?? []).map((uid) => ({
    decision: decision?.effect,
    policy: { uid, ...(version === undefined ? {} : { version }), is_applied: true },
  }));
  if (approval === null) return policies;
  const { id: uid, requester, approvers, isSinglePerson } = approval;
  const data = {
    ...(requester === "" ? {} : { requester }),
    ...(approvers.length === 0 ? {} : { approvers }),
    ...(isSinglePerson ? { single_person: true } : {}),
  };
  const policy = { uid, type: "approval", data };
  return [...policies, approvers.length === 0 ? { policy } : { decision: "approved", policy }];
}

/** Names whoever asked: the log holds the address as a commitment, which a disclosure opens. Where it has none, the process that told stands there. */
function endpointOf({ src, prod }: AuditEvent): Record<string, unknown> {
  return { uid: src?.addr ?? prod, svc_name: prod };
}

/** Refusals that one entry counts. */
function repeats({ detail = {} }: AuditEvent): Record<string, unknown> {
  const { count, window_s: windowS } = detail;
  if (typeof count !== "number" || typeof windowS !== "number") return {};
  return { count, ...(windowS === 0 ? {} : { duration: windowS * 1_000 }) };
}

function severity(event: AuditEvent): Record<string, unknown> {
  const grade = severityOf(event);
  if (grade >= 9) return { severity_id: 4, severity: "High" };
  if (grade >= 6) return { severity_id: 3, severity: "Medium" };
  return grade >= 5
    ? { severity_id: 2, severity: "Low" }
    : { severity_id: 1, severity: "Informational" };
}

/** A request's own end is not known yet; a refusal that stands alone has failed. */
function status(event: AuditEvent): Record<string, unknown> {
  const code = event.outcome === undefined ? {} : { status_code: event.outcome.code };
  if (event.phase === "requested") return { status_id: 99, status: "Requested", ...code };
  const isFailure = event.phase === "failed" || event.phase === "denied" || severityOf(event) === 5;
  return isFailure
    ? { status_id: 2, status: "Failure", ...code }
    : { status_id: 1, status: "Success", ...code };
}

/** The appliance: the first part of `<appliance>.audit.<customer>/<shard>`. */
function originHost(origin: string): string {
  return origin.split(".")[0] ?? origin;
}
