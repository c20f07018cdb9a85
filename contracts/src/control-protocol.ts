/**
 * The coordinator's control socket: one JSON object a line each way, for the `appliance` command (root) alone.
 * Not an HTTP route: users, first keys and join tokens are never made over the network.
 */
import { type Static, Type } from "typebox";
import type { ErrorCode } from "./error-catalogue.ts";

const closed = { additionalProperties: false } as const;
const Name = Type.String({ minLength: 1, maxLength: 64 });

/** Longest line either way, in bytes. */
export const MAX_CONTROL_LINE_BYTES = 65_536;

export const ControlRequest = Type.Union([
  Type.Object({ verb: Type.Literal("status") }, closed),
  /** Makes user, default project, bucket, S3 key pair and one platform key of 30 days; each secret is answered once. */
  Type.Object({ verb: Type.Literal("add-user"), username: Name, admin: Type.Boolean() }, closed),
  Type.Object({ verb: Type.Literal("join-token"), node: Name, ttlS: Type.Integer({ minimum: 1, maximum: 86_400 }) }, closed),
  /** Leases live until then; at most 15 minutes from now. */
  Type.Object({ verb: Type.Literal("maintenance"), untilS: Type.Integer({ minimum: 1 }) }, closed),
  Type.Object(
    {
      verb: Type.Literal("registry-login"),
      repository: Type.String({ maxLength: 256, pattern: "^[a-z0-9]+(?:[._/-][a-z0-9]+)*$" }),
    },
    closed,
  ),
]);
export type ControlRequest = Static<typeof ControlRequest>;
export type ControlVerb = ControlRequest["verb"];

export type ControlReply =
  | {
      ok: true;
      verb: "status";
      jobs: Record<string, number>;
      nodes: { node: string; state: string; workers: number }[];
      generation: number;
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
  | { ok: true; verb: "join-token"; token: string; expiresAt: string }
  | { ok: true; verb: "maintenance"; until: string }
  | { ok: true; verb: "registry-login"; username: string; password: string }
  | { ok: false; code: ErrorCode; message: string; hint: string };
