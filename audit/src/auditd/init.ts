/** The ceremony that makes a log: keys, policy, then the checkpoint of the empty tree. Only here does a log begin, and only on its day. */
import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { signCheckpoint } from "../log/checkpoint.ts";
import { replaceFile, syncFolder } from "../log/durable-file.ts";
import { Frontier } from "../log/merkle.ts";
import { type NoteSigner, verifierKey } from "../log/note-key.ts";
import { parsePolicy } from "../log/policy.ts";
import { setCurrentSlug } from "../log/shards.ts";
import { ConfigError } from "./config.ts";
import { ensureKeys, loadSigners, missingKey } from "./log-keys.ts";
import { currentShard, exists, type ShardFiles, shardFiles } from "./shard-files.ts";

const DAY_MS = 86_400_000;

export type InitResult = { origin: string; verifierKeys: string[]; policySha256: string; created: boolean };

/**
 * Makes keys, policy and empty log; what a broken-off earlier run made is kept, so it is safe to repeat. A log that is there stays.
 * @throws {@link ConfigError} when there is a log without its key, or no log and this is not the day on which one is made: a disk that was
 *   wiped must not begin a new log in silence
 */
export async function initLog(config: AuditdConfig): Promise<InitResult> {
  const current = await currentShard(config);
  const shard = current ?? shardFiles(config, config.inception.slice(0, 4));
  const hasLog = (await exists(join(shard.logDir, "checkpoint"))) || (await exists(join(shard.logDir, "tile")));
  if (current !== null && !hasLog) throw new ConfigError(`${current.logDir} is gone; it holds the log`);
  const missing = await missingKey(shard);
  if (hasLog && missing !== null) throw new ConfigError(`${shard.logDir} holds a log, but its key ${missing} is gone`);
  if (current === null && !isInceptionDay(config))
    throw new ConfigError(`there is no log in ${config.auditDir}, and one is made on ${config.inception} alone`);
  await ensureKeys(shard);
  const signers = await loadSigners(shard);
  const verifierKeys = signers.map(verifierKey);
  if (!(await exists(config.policyFile))) await replaceFile(config.policyFile, policyText(verifierKeys), 0o444);
  const policy = await readFile(config.policyFile);
  if (!verifierKeys.every((key) => parsePolicy(policy).logs.some((log) => verifierKey(log) === key)))
    throw new ConfigError(`${config.policyFile} is not the policy of the keys of ${shard.origin}`);
  if (current === null) {
    await makeEmptyLog(config, shard, signers);
    await setCurrentSlug(config.auditDir, shard.slug);
  }
  return {
    origin: shard.origin,
    verifierKeys,
    policySha256: createHash("sha256").update(policy).digest("hex"),
    created: current === null,
  };
}

/** The day itself and the next: an install may pass midnight, and its clock's zone is not ours. */
function isInceptionDay({ inception }: AuditdConfig): boolean {
  const sinceMs = Date.now() - Date.parse(`${inception}T00:00:00Z`);
  return sinceMs >= 0 && sinceMs < 2 * DAY_MS;
}

async function makeEmptyLog(
  { auditDir }: AuditdConfig,
  { logDir, origin }: ShardFiles,
  signers: readonly NoteSigner[],
): Promise<void> {
  if ((await mkdir(auditDir, { recursive: true, mode: 0o750 })) !== undefined) await syncFolder(dirname(auditDir));
  if ((await mkdir(logDir, { recursive: true, mode: 0o750 })) !== undefined) await syncFolder(auditDir);
  await mkdir(join(logDir, "wal"), { recursive: true, mode: 0o700 });
  const checkpointFile = join(logDir, "checkpoint");
  if (await exists(checkpointFile)) return;
  await replaceFile(checkpointFile, signCheckpoint({ origin, size: 0, root: new Frontier().root() }, signers), 0o440);
}

/** C2SP tlog-policy: one log by its two keys, no witnesses yet. */
function policyText(keys: readonly string[]): string {
  return `${keys.map((key) => `log ${key}\n`).join("")}quorum none\n`;
}
