/** What the operator does, and what runs. */
import { Type } from "typebox";
import { OutboundName } from "../../inference/outbound-name.ts";
import { Code, Count, Instant, PlainId, Sha256Hex } from "../audit-event.ts";
import { type CatalogueEntry, fact, HOUR, NoDetail, operation } from "./entry.ts";
import { ByRequest, ClaimedPeople } from "./fields.ts";
import { closed } from "../../closed.ts";

/** What one part runs. */
export const MAX_MEASURED_FILES = 48;

/** Of a file, as the release lists it. */
const ReleasePath = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9@._+/-]{0,127}$" });

/** How many of each model, in the order of their names. */
const Workers = Type.Array(Type.Object({ model: Code, workers: Count }, closed), { maxItems: 16 });

/** Ids of nodes. */
const Nodes = Type.Array(PlainId, { maxItems: 16 });
/** Null: any number. */
const PersonLimit = Type.Union([Count, Type.Null()]);

/** Of the appliance itself. */
const Hostname = Type.String({ pattern: "^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$" });

export const ADMIN_EVENTS = {
  "admin.coordinator.start": fact(
    "process",
    "The coordinator started; fences of older generations are void.",
    Type.Object({ generation: Count, version: Code }, closed),
  ),
  "admin.install": operation(
    "appliance",
    "The appliance was installed.",
    Type.Object({ release_sha256: Type.Optional(Sha256Hex) }, closed),
    { maxOpenMs: HOUR },
  ),
  "admin.uninstall": operation("appliance", "The appliance was removed.", NoDetail, {
    maxOpenMs: HOUR,
  }),
  "admin.start": operation("process", "A part was started.", NoDetail),
  "admin.stop": operation("process", "A part was stopped.", NoDetail),
  "admin.restart": operation(
    "process",
    "A part was started again.",
    Type.Object({ reason: Type.Optional(Code) }, closed),
  ),
  "admin.maintenance": operation(
    "appliance",
    "A planned stop was announced; leases live longer.",
    Type.Object({ until_s: Count }, closed),
  ),
  "admin.policy": operation(
    "appliance",
    "Other policies were put in force; `approval` names the request.",
    Type.Object(
      {
        policy_set_sha256: Sha256Hex,
        /** Those in force before. */
        policy_set_sha256_before: Type.Optional(Sha256Hex),
        ...ByRequest,
        approval: PlainId,
      },
      closed,
    ),
  ),
  "admin.identity": operation(
    "appliance",
    "The realm of the identity provider was made as the release has it.",
    Type.Object(
      {
        differences: Count,
        /** Of the realm's keys that are pinned for auditd and the vault. */
        keys_added: Type.Optional(Count),
        keys_retired: Type.Optional(Count),
      },
      closed,
    ),
  ),
  "admin.identity.connection": operation(
    "appliance",
    "A directory or identity provider of the customer was connected, changed, tried or disconnected.",
    Type.Object(
      {
        change: Type.Enum(["connected", "tried", "disconnected"]),
        kind: Type.Enum(["ldap", "oidc", "saml"]),
        name: PlainId,
      },
      closed,
    ),
  ),
  "admin.monitoring": operation(
    "appliance",
    "The token for metrics was made anew, or a target of alerts was set, tried or removed.",
    Type.Object(
      {
        change: Type.Enum(["token-rotated", "target-set", "target-tried", "target-removed"]),
        /** Of a target. */
        kind: Type.Optional(Type.Enum(["smtp", "webhook", "syslog"])),
        name: Type.Optional(PlainId),
      },
      closed,
    ),
  ),
  "admin.outbound": operation(
    "appliance",
    "A host outside was allowed to be dialled for calls of predictors, or forbidden again.",
    Type.Object(
      {
        change: Type.Enum(["allowed", "forbidden"]),
        host: OutboundName,
        port: Type.Integer({ minimum: 1, maximum: 65_535 }),
        /** Networks were named in which its addresses may lie. */
        networks: Type.Optional(Count),
        /** SHA-256 of the certificates of who vouches for it, in PEM. */
        ca_sha256: Type.Optional(Sha256Hex),
      },
      closed,
    ),
  ),
  "admin.shares": operation(
    "appliance",
    "An organisation, team or project was guaranteed other workers, given another limit, or another weight beside its peers.",
    Type.Object(
      {
        /** Its id. */
        share: PlainId,
        guarantee: Type.Optional(Workers),
        limit: Type.Optional(Workers),
        /** In decimal digits. */
        weight: Type.Optional(Code),
        /** The most workers, and waiting jobs, of one person below it. */
        person_running: Type.Optional(PersonLimit),
        person_queued: Type.Optional(PersonLimit),
        /** Minutes until an interactive job that uses nothing is warned; null: an hour. */
        interactive_idle: Type.Optional(PersonLimit),
        /** Of one that takes workers from a guarantee. */
        ...ByRequest,
      },
      closed,
    ),
  ),
  "admin.pools": operation(
    "appliance",
    "A pool of nodes was made, changed or removed: whose it is, by which rules, and which nodes came or went.",
    Type.Object(
      {
        change: Type.Enum(["made", "changed", "removed"]),
        /** Its id; absent of one that is being made. */
        pool: Type.Optional(PlainId),
        name: Type.Optional(PlainId),
        kind: Type.Optional(Type.Enum(["shared", "managed", "private"])),
        project: Type.Optional(PlainId),
        lends: Type.Optional(Type.Boolean()),
        /** 0: as long as it likes. */
        most_run_minutes: Type.Optional(Count),
        /** Empty: all. */
        classes: Type.Optional(Type.Array(Code, { maxItems: 8 })),
        /** 0: any number. */
        project_workers: Type.Optional(Count),
        /** Empty: any. */
        worker_models: Type.Optional(Type.Array(Code, { maxItems: 8 })),
        /** 0: its nodes keep no inputs. */
        cache_bytes: Type.Optional(Count),
        added: Type.Optional(Nodes),
        removed: Type.Optional(Nodes),
      },
      closed,
    ),
  ),
  "admin.calendar": operation(
    "appliance",
    "Maintenance of nodes, or that they are reserved for a project, was announced, moved or called off.",
    Type.Object(
      {
        change: Type.Enum(["announced", "moved", "called-off"]),
        /** Its id; absent of one that is being announced. */
        entry: Type.Optional(PlainId),
        kind: Type.Enum(["maintenance", "reservation"]),
        project: Type.Optional(PlainId),
        pool: Type.Optional(PlainId),
        nodes: Type.Optional(Nodes),
        from: Instant,
        until: Instant,
      },
      closed,
    ),
  ),
  "admin.config": operation(
    "appliance",
    "Settings of the appliance were made as a file has them.",
    Type.Object(
      {
        /** `appliance.<choice>` or `<part>/<file>`. */
        changed: Type.Array(PlainId, { minItems: 1, maxItems: 64 }),
        /** SHA-256 of the file. */
        file_sha256: Sha256Hex,
      },
      closed,
    ),
  ),
  "admin.rename": fact(
    "appliance",
    "The appliance was told to take another name, or address, for clients and nodes; `admin.install` says that it has.",
    Type.Object({ from: Hostname, to: Hostname, address: Type.Optional(PlainId) }, closed),
  ),
  "admin.certificates": operation(
    "appliance",
    "The customer's certificate was put into the doors, the appliance's own came back, or all of its own were made anew.",
    Type.Object(
      {
        change: Type.Enum(["used", "own", "rotated"]),
        /** Of the customer's certificate and its authority, in DER. */
        cert_sha256: Type.Optional(Sha256Hex),
        ca_sha256: Type.Optional(Sha256Hex),
      },
      closed,
    ),
  ),
  "admin.backup": fact(
    "appliance",
    "A backup was begun, taken or failed; a recovery key was made; a schedule was set or ended; a backup was tried or put back.",
    Type.Object(
      {
        change: Type.Enum([
          ...(["begun", "taken", "failed", "key-made", "scheduled", "unscheduled"] as const),
          ...(["tried", "put-back"] as const),
        ]),
        /** By the time of its beginning. */
        backup: Type.Optional(Code),
        /** Of the signed list of its parts. */
        manifest_sha256: Type.Optional(Sha256Hex),
        bytes: Type.Optional(Count),
        objects: Type.Optional(Count),
        reason: Type.Optional(Code),
      },
      closed,
    ),
  ),
  "admin.support": operation(
    "appliance",
    "A bundle for the vendor's support was written: status and logs, without secrets and personal values.",
    Type.Object(
      {
        bundle_sha256: Type.Optional(Sha256Hex),
        bytes: Type.Optional(Count),
        files: Type.Optional(Count),
      },
      closed,
    ),
  ),
  "admin.control": operation(
    "appliance",
    "A command of the operator on the coordinator's control socket.",
    Type.Object(
      { verb: Code, project: Type.Optional(PlainId), allowed: Type.Optional(Type.Boolean()) },
      closed,
    ),
  ),
  "admin.measured": fact(
    "process",
    "Before a part was started, the files of the release that it runs were hashed; an image's digest stands under `digests`.",
    Type.Object(
      {
        /** In order of their paths in the release; a part runs few. */
        files: Type.Array(Type.Object({ path: ReleasePath, sha256: Sha256Hex }, closed), {
          maxItems: MAX_MEASURED_FILES,
        }),
      },
      closed,
    ),
  ),
  "admin.refused": fact(
    "appliance",
    "An operator's command was refused before it did anything; `action` says which, `reason` why.",
    Type.Object({ reason: Code, ...ClaimedPeople }, closed),
  ),
  "admin.clock.step": fact(
    "appliance",
    "The wall clock moved against the monotonic one by more than a second.",
    Type.Object({ step_ms: Type.Integer() }, closed),
  ),
} as const satisfies Record<string, CatalogueEntry>;
