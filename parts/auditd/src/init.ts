/** The ceremony that makes a log: keys, policy, then the checkpoint of the empty tree. Only here does a log begin, and only on its day. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { syncFolder } from "@resontech/frame/durable-file";
import { verifierKey } from "@resontech/audit/format/note/note-key";
import { setCurrentSlug } from "@resontech/audit/format/shard/shards";
import { ConfigError } from "./config.ts";
import { LogKeys } from "./keys/log-keys.ts";
import { makeEmptyTree, makeShardKeys } from "./shard/make-shard.ts";
import { currentShard, exists, type ShardFiles, shardFiles } from "./shard-files.ts";

const DAY_MS = 86_400_000;

export type InitResult = {
  origin: string;
  verifierKeys: string[];
  policySha256: string;
  created: boolean;
};

/**
 * Makes keys, policy and empty log; keys of a broken-off earlier run are kept, so it is safe to repeat. A log that is there stays. That run may
 * have given a name and not made it durable, so each folder is synced whoever filled it, before the next step builds on it.
 * @throws {@link ConfigError} when there is a log without its key, or no log and this is not the day on which one is made: a disk that was
 *   wiped must not begin a new log in silence
 */
export async function initLog(config: AuditdConfig): Promise<InitResult> {
  using logKeys = await LogKeys.open(config);
  const current = await currentShard(config);
  const shard = current ?? shardFiles(config, config.inception.slice(0, 4));
  const hasTree = await exists(join(shard.logDir, "tile"));
  if (current === null) {
    if (hasTree)
      throw new ConfigError(
        `${shard.logDir} holds a log, but ${config.auditDir} does not name it as the one that is written`,
      );
    if (!isInceptionDay(config))
      throw new ConfigError(
        `there is no log in ${config.auditDir}, and one is made on ${config.inception} alone`,
      );
  } else await refuseWithoutParts(config, logKeys, current);
  const signers = await makeShardKeys(config, logKeys, shard);
  if (current === null) {
    await makeEmptyTree(config, shard, signers);
    await setCurrentSlug(config.auditDir, shard.slug);
  } else await syncFolder(config.auditDir);
  const policy = await readFile(config.policyFile);
  return {
    origin: shard.origin,
    verifierKeys: signers.map(verifierKey),
    policySha256: createHash("sha256").update(policy).digest("hex"),
    created: current === null,
  };
}

async function refuseWithoutParts(
  { policyFile }: AuditdConfig,
  logKeys: LogKeys,
  shard: ShardFiles,
): Promise<void> {
  if (!(await exists(join(shard.logDir, "checkpoint"))))
    throw new ConfigError(`${shard.logDir} is gone; it holds the log`);
  const missing = await logKeys.missingOf(shard);
  if (missing !== null)
    throw new ConfigError(`${shard.logDir} holds a log, but its key ${missing} is gone`);
  // A new one would name no witness.
  if (!(await exists(policyFile)))
    throw new ConfigError(`there is a log, but its policy ${policyFile} is gone`);
}

/** The day itself and the next: an install may pass midnight, and its clock's zone is not ours. */
function isInceptionDay({ inception }: AuditdConfig): boolean {
  const sinceMs = Date.now() - Date.parse(`${inception}T00:00:00Z`);
  return sinceMs >= 0 && sinceMs < 2 * DAY_MS;
}
