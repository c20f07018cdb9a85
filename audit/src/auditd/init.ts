/** The ceremony that makes a log: key, policy, then the checkpoint of the empty tree. Only here does a log begin, and only on its day. */
import { createHash, generateKeyPairSync } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { replaceFile, syncFolder } from "../log/durable-file.ts";
import { Frontier } from "../log/merkle.ts";
import { setCurrentSlug } from "../log/shards.ts";
import { type NoteSigner, signCheckpoint, verifierKey } from "../log/signed-note.ts";
import { ConfigError, loadSigner } from "./config.ts";
import { currentShard, exists, type ShardFiles, shardFiles } from "./shard-files.ts";

const DAY_MS = 86_400_000;

export type InitResult = { origin: string; verifierKey: string; policySha256: string; created: boolean };

/**
 * Makes key, policy and empty log; what a broken-off earlier run made is kept, so it is safe to repeat. A log that is there stays.
 * @throws {@link ConfigError} when there is a log without its key, or no log and this is not the day on which one is made: a disk that was
 *   wiped must not begin a new log in silence
 */
export async function initLog(config: AuditdConfig): Promise<InitResult> {
  const current = await currentShard(config);
  const shard = current ?? shardFiles(config, config.inception.slice(0, 4));
  const hasLog = (await exists(join(shard.logDir, "checkpoint"))) || (await exists(join(shard.logDir, "tile")));
  if (current !== null && !hasLog) throw new ConfigError(`${current.logDir} is gone; it holds the log`);
  if (hasLog && !(await exists(shard.keyFile)))
    throw new ConfigError(`${shard.logDir} holds a log, but its key ${shard.keyFile} is gone`);
  if (current === null && !isInceptionDay(config))
    throw new ConfigError(`there is no log in ${config.auditDir}, and one is made on ${config.inception} alone`);
  const signer = await ensureSigner(shard);
  const policy = policyText(verifierKey(signer));
  if (!(await exists(config.policyFile))) await replaceFile(config.policyFile, policy, 0o444);
  if ((await readFile(config.policyFile, "utf8")) !== policy)
    throw new ConfigError(`${config.policyFile} is not the policy of ${shard.keyFile} and ${shard.origin}`);
  if (current === null) {
    await makeEmptyLog(config, shard, signer);
    await setCurrentSlug(config.auditDir, shard.slug);
  }
  return {
    origin: shard.origin,
    verifierKey: verifierKey(signer),
    policySha256: createHash("sha256").update(policy).digest("hex"),
    created: current === null,
  };
}

/** The day itself and the next: an install may pass midnight, and its clock's zone is not ours. */
function isInceptionDay({ inception }: AuditdConfig): boolean {
  const sinceMs = Date.now() - Date.parse(`${inception}T00:00:00Z`);
  return sinceMs >= 0 && sinceMs < 2 * DAY_MS;
}

async function ensureSigner(shard: ShardFiles): Promise<NoteSigner> {
  if (!(await exists(shard.keyFile)))
    await replaceFile(shard.keyFile, generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }), 0o400);
  return loadSigner(shard);
}

async function makeEmptyLog({ auditDir }: AuditdConfig, { logDir, origin }: ShardFiles, signer: NoteSigner): Promise<void> {
  if ((await mkdir(auditDir, { recursive: true, mode: 0o750 })) !== undefined) await syncFolder(dirname(auditDir));
  if ((await mkdir(logDir, { recursive: true, mode: 0o750 })) !== undefined) await syncFolder(auditDir);
  await mkdir(join(logDir, "wal"), { recursive: true, mode: 0o700 });
  const checkpointFile = join(logDir, "checkpoint");
  if (await exists(checkpointFile)) return;
  await replaceFile(checkpointFile, signCheckpoint({ origin, size: 0, root: new Frontier().root() }, signer), 0o440);
}

/** C2SP tlog-policy: one log, no witnesses yet. */
function policyText(key: string): string {
  return `log ${key}\nquorum none\n`;
}
