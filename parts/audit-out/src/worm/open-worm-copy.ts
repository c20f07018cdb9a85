/** From the configuration to a running copy. */
import { readFile } from "node:fs/promises";
import type { AuditOutConfig, WormCopy as WormConfig } from "@resontech/contracts/audit-out-config";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { ConfigError, readSecret } from "../config.ts";
import { CursorFile } from "../sinks/cursor-file.ts";
import { LockedBucket } from "./locked-bucket.ts";
import { WormCopy, type WormCopyOptions } from "./worm-copy.ts";

const Credentials = Type.Object(
  { accessKeyId: Type.String({ minLength: 1 }), secretAccessKey: Type.String({ minLength: 1 }) },
  { additionalProperties: false },
);

/** @throws ConfigError */
export async function openWormCopy(
  { stateDir, pollMs, retryMs }: AuditOutConfig,
  {
    endpoint,
    region,
    bucket,
    caFile,
    credentialsFile,
    retentionDays,
    checkpointMs,
    skipDamaged = [],
  }: WormConfig,
  parts: Pick<WormCopyOptions, "follower" | "reporter" | "log">,
): Promise<WormCopy> {
  const credentials: unknown = parse(credentialsFile, await readSecret(credentialsFile));
  if (!Value.Check(Credentials, credentials))
    throw new ConfigError(`${credentialsFile}: it is not {"accessKeyId","secretAccessKey"}`);
  const ca = caFile === undefined ? {} : { ca: await readFile(caFile, "utf8") };
  return WormCopy.start({
    ...{ ...parts, pollMs, retryMs, retentionDays, checkpointMs, skipDamaged },
    bucket: new LockedBucket({ endpoint, region, bucket, ...ca, ...credentials }),
    cursor: new CursorFile(stateDir, "worm"),
  });
}

/** The text itself may not stand in a message. */
function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigError(`${file}: it is no JSON`);
  }
}
