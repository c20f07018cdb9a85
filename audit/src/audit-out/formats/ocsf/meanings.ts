/** Every type of the closed catalogue as OCSF understands it: a type without a line here does not compile. */
import type { EventType } from "@resontech/contracts/audit-catalogue";
import type { OcsfClass, OcsfMeaning } from "./classes.ts";

const as = <C extends OcsfClass>(name: C, activity: Extract<OcsfMeaning, { class: C }>["activity"]) =>
  ({ class: name, activity }) as OcsfMeaning;

const OCSF_MEANINGS: Readonly<Record<EventType, OcsfMeaning>> = {
  "auth.failure": as("authentication", "Logon"),
  "auth.refused": as("api", "Other"),
  "iam.user.create": as("account", "Create"),
  "iam.project.create": as("entity", "Create"),
  "iam.node.join-token": as("entity", "Create"),
  "iam.node.join": as("entity", "Enroll"),
  "iam.node.register": as("entity", "Activate"),
  "iam.node.lost": as("entity", "Deactivate"),

  "job.submit": as("api", "Create"),
  "job.cancel": as("api", "Update"),
  "job.accepted": as("api", "Create"),
  "job.queued": as("api", "Update"),
  "job.held": as("api", "Update"),
  "job.placed": as("api", "Update"),
  "job.provisioning": as("api", "Update"),
  "job.staging": as("api", "Update"),
  "job.started": as("api", "Update"),
  "job.preempting": as("api", "Update"),
  "job.recovering": as("api", "Update"),
  "job.finalizing": as("api", "Update"),
  "job.stopping": as("api", "Update"),
  "job.finished": as("api", "Update"),
  "job.failed": as("api", "Update"),
  "job.cancelled": as("api", "Update"),
  "job.expired": as("api", "Update"),
  "job.rejected": as("api", "Update"),
  "job.member": as("api", "Update"),

  "key.mint": as("entity", "Create"),
  "key.bootstrap": as("entity", "Create"),
  "key.revoke": as("entity", "Delete"),
  "key.list": as("entity", "Read"),
  "key.bucket.rotate": as("entity", "Update"),
  "key.registry.token": as("entity", "Create"),
  "key.certificate.issue": as("entity", "Create"),
  "key.store.change": as("entity", "Update"),

  "data.bucket.create": as("datastore", "Create"),
  "data.bucket.read": as("datastore", "Read"),
  "data.versions.collect": as("datastore", "Delete"),
  "data.bucket.usage": as("datastore", "Read"),
  "data.bucket.delete": as("datastore", "Delete"),
  "data.bucket.list": as("datastore", "List"),
  "data.bucket.inspect": as("datastore", "Read"),
  "data.bucket.change": as("datastore", "Update"),
  "data.buckets.list": as("datastore", "List"),
  "data.upload.init": as("file", "Upload"),
  "data.upload.complete": as("file", "Upload"),
  "data.upload.abort": as("file", "Other"),
  "data.stage": as("file", "Download"),
  "data.log.read": as("api", "Read"),
  "data.object.read": as("file", "Download"),
  "data.object.write": as("file", "Upload"),
  "data.object.multipart": as("file", "Upload"),
  "data.object.delete": as("file", "Delete"),
  "data.object.delete.listed": as("file", "Delete"),
  "data.object.change": as("file", "Update"),
  "data.object.refused": as("file", "Access Check"),
  "model.output.open": as("model", "Create"),
  "model.output": as("model", "Create"),

  "privacy.erasure": as("entity", "Delete"),
  "privacy.refusal": as("entity", "Other"),
  "privacy.hold": as("entity", "Suspend"),
  "privacy.disclose": as("entity", "Read"),
  "privacy.retention": as("entity", "Delete"),

  "admin.coordinator.start": as("application", "Start"),
  "admin.install": as("application", "Install"),
  "admin.uninstall": as("application", "Remove"),
  "admin.start": as("application", "Start"),
  "admin.stop": as("application", "Stop"),
  "admin.restart": as("application", "Restart"),
  "admin.maintenance": as("application", "Other"),
  "admin.control": as("api", "Other"),
  "admin.clock.step": as("configState", "Log"),

  "audit.export": as("eventLog", "Export"),
  "audit.read": as("eventLog", "Other"),
  "audit.search": as("eventLog", "Other"),
  "audit.producer.start": as("eventLog", "Other"),
  "audit.wal.cut": as("eventLog", "Other"),
  "audit.rejected": as("eventLog", "Other"),
  "audit.lost": as("eventLog", "Other"),
  "audit.disk": as("eventLog", "Other"),
  "audit.stop": as("eventLog", "Stop"),
  "audit.shard.open": as("eventLog", "Start"),
  "audit.shard.next": as("eventLog", "Other"),
  "audit.shard.close": as("eventLog", "Rotate"),
  "audit.op.carried": as("eventLog", "Other"),
  "audit.witness.lag": as("eventLog", "Other"),
  "audit.policy": as("eventLog", "Other"),
  "audit.sink": as("eventLog", "Other"),
  "audit.heartbeat": as("eventLog", "Other"),
};

/** A log may hold types that a later release wrote: they must not stop the export of what follows. */
const OF_ANOTHER_RELEASE = as("eventLog", "Other");

export function meaningOf(type: string): OcsfMeaning {
  return (OCSF_MEANINGS as Readonly<Record<string, OcsfMeaning>>)[type] ?? OF_ANOTHER_RELEASE;
}
