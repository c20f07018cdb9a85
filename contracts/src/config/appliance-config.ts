/**
 * `<root>/etc/appliance.json`: what the operator chose at install. Everything else is derived from it by `appliance/`
 * at start and handed to each process as a file of its own (`<root>/etc/<process>.json`, readable by that process alone).
 */
import { type Static, Type } from "typebox";
import { PortRange } from "./port-range.ts";
import { UidRange } from "./uid-range.ts";
import { RetentionClasses } from "./vault-config.ts";
import { closed } from "../closed.ts";

const Port = Type.Integer({ minimum: 1, maximum: 65535 });
export const Slug = Type.String({ pattern: "^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$" });
/** `controlled`: a user's own key can't fetch what lies in `model_out/`; the coordinator's signature alone lets it out. */
export const OutputExport = Type.Union([Type.Literal("open"), Type.Literal("controlled")]);

export const ApplianceConfig = Type.Object(
  {
    formatVersion: Type.Literal(1),
    /** Names `/run/resontech/<instance>/`, the container engine's state and networks; two instances may share a host. */
    instance: Slug,
    /** First labels of the audit log's origin: `<appliance>.audit.<customer>/<YYYY>`. */
    appliance: Slug,
    customer: Slug,
    uidBase: Type.Integer({ minimum: 1000, maximum: 4_000_000_000, default: 64100 }),
    /** IPv4 address that the perimeter ports bind to. */
    address: Type.String({ pattern: "^[0-9]{1,3}(\\.[0-9]{1,3}){3}$" }),
    /** The one name that clients, agents and coordinator all resolve to `address`; URLs are signed for it. */
    name: Type.String({ maxLength: 253, pattern: "^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$" }),
    /** The name before (`appliance rename`): until then the appliance's own certificates have it as well. Instant, RFC 3339. */
    formerName: Type.Optional(
      Type.Object({ name: Type.String({ maxLength: 253 }), until: Type.String() }, closed),
    ),
    ports: Type.Object(
      {
        api: Port,
        s3: Port,
        registry: Port,
        nats: Port,
        /** Loopback. */
        keycloak: Port,
        /** Loopback. */
        keycloakManagement: Port,
        /** Loopback. */
        postgres: Port,
        /** Loopback. Absent in a file of an older release: `DEFAULT_PORTS`. */
        prometheus: Type.Optional(Port),
      },
      closed,
    ),
    /** Of the perimeter address, for agents of other nodes alone. Absent: `DEFAULT_JOB_PORTS`. */
    jobPorts: Type.Optional(PortRange),
    /** Numeric users of jobs on this host. Absent: `DEFAULT_JOB_UIDS`. */
    jobUids: Type.Optional(UidRange),
    containerEngine: Type.Union([
      /** Our own `podman system service`, private root, run root, network directory and HOME. */
      Type.Object({ kind: Type.Literal("podman") }, closed),
      Type.Object({ kind: Type.Literal("docker"), socket: Type.String() }, closed),
    ]),
    /** Whose Podman, nft, mount and the like are called: this host's, or those of the bundle. @default host, also where an older file does not have it */
    hostTools: Type.Optional(Type.Union([Type.Literal("host"), Type.Literal("bundle")])),
    /** The agent of this host; null when the control node runs no jobs. */
    agent: Type.Union([
      Type.Object(
        { node: Slug, cpuWorkers: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]) },
        closed,
      ),
      Type.Null(),
    ]),
    keyKind: Type.Union([Type.Literal("live"), Type.Literal("dev")]),
    /** Default quota of a user's bucket. */
    bucketQuotaBytes: Type.Integer({ minimum: 0 }),
    /** What becomes of an action that awaits a witness in vain. @default mark, also where an older file does not have it */
    unwitnessed: Type.Optional(Type.Union([Type.Literal("mark"), Type.Literal("refuse")])),
    /** How long what opens personal values is kept. @default the product's (policies/retention.json) */
    retention: Type.Optional(RetentionClasses),
    /** @default open, also where an older file does not have it */
    outputExport: Type.Optional(OutputExport),
    /** A running job that gives no sign of life for so long is reported as hanging. @default 60 */
    hangAfterMinutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  },
  closed,
);
export type ApplianceConfig = Static<typeof ApplianceConfig>;

export const DEFAULT_PORTS: Required<ApplianceConfig["ports"]> = {
  api: 8000,
  s3: 3900,
  registry: 5000,
  nats: 4222,
  keycloak: 8443,
  keycloakManagement: 9000,
  postgres: 5433,
  prometheus: 9090,
};

/** Numeric uid (= gid) of what no part of `parts/` is: `uidBase + n`. Root runs the supervisor, the agent and the `appliance` command. */
export const UID_OFFSETS = {
  dispatcher: 5,
  /** Group of everything that may read the public parts of `etc/` (root certificate). */
  shared: 20,
} as const;
