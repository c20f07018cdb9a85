/**
 * The coordinator's control socket: one JSON object a line each way, for the `appliance` command (root) alone.
 * Not an HTTP route: users, first keys and join tokens are never made over the network.
 */
import { type Static, Type } from "typebox";
import type { CoordinatorHealth } from "./coordinator-health.ts";
import type { ErrorCode } from "../http/error-catalogue.ts";
import { OPERATOR_REQUESTS, type OperatorReply } from "./operator-control.ts";

const closed = { additionalProperties: false } as const;
const Name = Type.String({ minLength: 1, maxLength: 64 });

/** Longest line either way, in bytes. */
export const MAX_CONTROL_LINE_BYTES = 65_536;
/** Longest planned stop: KERNEL "Leases". */
export const MAX_MAINTENANCE_S = 900;

/** Duties that somebody can be made with at the host. */
export type FirstDuty = "platform-admin" | "compliance-auditor";

export const ControlRequest = Type.Union([
  Type.Object({ verb: Type.Literal("status") }, closed),
  /** Makes user, default project, bucket, S3 key pair and one platform key of 30 days; each secret is answered once. */
  Type.Object({ verb: Type.Literal("add-user"), username: Name }, closed),
  /** Makes somebody with a duty on the whole appliance: no project, no bucket, no key pair and no platform key. */
  Type.Object(
    {
      verb: Type.Literal("add-person"),
      username: Name,
      duty: Type.Enum(["platform-admin", "compliance-auditor"]),
    },
    closed,
  ),
  Type.Object(
    {
      verb: Type.Literal("join-token"),
      node: Name,
      ttlS: Type.Integer({ minimum: 1, maximum: 86_400 }),
    },
    closed,
  ),
  /** A planned stop of so many seconds: leases outlive it. 0 ends it. */
  Type.Object(
    {
      verb: Type.Literal("maintenance"),
      forS: Type.Integer({ minimum: 0, maximum: MAX_MAINTENANCE_S }),
    },
    closed,
  ),
  /** Whether files that a user's jobs write at their sites may leave these. */
  Type.Object(
    { verb: Type.Literal("site-files"), username: Name, allowed: Type.Boolean() },
    closed,
  ),
  Type.Object(
    {
      verb: Type.Literal("registry-login"),
      repository: Type.String({ maxLength: 256, pattern: "^[a-z0-9]+(?:[._/-][a-z0-9]+)*$" }),
      /** For so long as often as wanted, as a person's client asks for a token again and again; once within five minutes without. */
      forS: Type.Optional(Type.Integer({ minimum: 60, maximum: 86_400 })),
    },
    closed,
  ),
  ...OPERATOR_REQUESTS,
]);
/** Beside every request: the person of the host who asks, for the audit log; left out where nobody signed in. */
export const ControlPerson = Type.Optional(
  Type.String({ minLength: 1, maxLength: 160, pattern: "^[\\x20-\\x7e]+$" }),
);
export type ControlRequest = Static<typeof ControlRequest>;
export type ControlVerb = ControlRequest["verb"];

export type ControlReply =
  | {
      ok: true;
      verb: "status";
      jobs: Record<string, number>;
      nodes: { node: string; state: string; workers: number }[];
      generation: number;
      health: CoordinatorHealth;
      /** SHA-256 of the policies by which it decides; a release before has none. */
      policySet?: string;
    }
  | {
      ok: true;
      verb: "add-user";
      userId: string;
      username: string;
      project: string;
      bucketAlias: string;
      platformKey: string;
      accessKeyId: string;
      secretAccessKey: string;
    }
  | { ok: true; verb: "add-person"; userId: string; username: string; duty: FirstDuty }
  | { ok: true; verb: "join-token"; token: string; expiresAt: string }
  /** `until` is null when it was ended; `untold` are living nodes that did not answer, whose work stops with their lease. */
  | { ok: true; verb: "maintenance"; until: string | null; untold: string[] }
  | { ok: true; verb: "site-files"; project: string; allowed: boolean }
  | { ok: true; verb: "registry-login"; username: string; password: string }
  | OperatorReply
  | { ok: false; code: ErrorCode; message: string; hint: string };
