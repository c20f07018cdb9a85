/**
 * The coordinator's control socket: one JSON object a line each way, for the `appliance` command (root) alone.
 * Not an HTTP route: users, first keys and join tokens are never made over the network.
 */
export type ControlRequest =
  | { verb: "status" }
  /** Makes user, default project, bucket, S3 key pair and one platform key of 30 days; each secret is answered once. */
  | { verb: "add-user"; username: string; admin: boolean }
  | { verb: "join-token"; node: string; ttlS: number }
  | { verb: "maintenance"; untilS: number }
  | { verb: "registry-login"; repository: string };

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
  | { ok: false; code: string; message: string; hint: string };
