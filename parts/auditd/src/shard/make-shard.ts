/** The files of a shard that does not exist yet: keys, their lines in the policy, the checkpoint of the empty tree. */
import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { replaceFile, syncFolder } from "@resontech/frame/durable-file";
import { AUDITD } from "../decisions/ledger.ts";
import { parseLeaf } from "@resontech/audit/format/event/leaf";
import { openCheckpoint, signCheckpoint } from "@resontech/audit/format/note/checkpoint";
import { Frontier } from "@resontech/audit/format/tree/merkle";
import { type LogSigner, verifierKey } from "@resontech/audit/format/note/note-key";
import { parsePolicy } from "@resontech/audit/format/note/policy";
import { readWal } from "../wal/wal-recovery.ts";
import type { LogKeys } from "../keys/log-keys.ts";
import { exists, type ShardFiles } from "../shard-files.ts";

/**
 * Makes the keys, and lists them in the policy; safe to repeat. Keys of this shard that were listed and are gone are listed no longer: a checkpoint
 * must carry the signature of each one that is.
 */
export async function makeShardKeys(
  config: AuditdConfig,
  logKeys: LogKeys,
  shard: ShardFiles,
): Promise<LogSigner[]> {
  await logKeys.ensure(shard);
  const signers = await logKeys.signersOf(shard);
  const keys = signers.map(verifierKey);
  const hasPolicy = await exists(config.policyFile);
  const policy = hasPolicy ? await readFile(config.policyFile, "latin1") : "quorum none\n";
  const listed = parsePolicy(Buffer.from(policy, "latin1"))
    .logs.filter(({ name }) => name === shard.origin)
    .map(verifierKey);
  const gone = listed.filter((key) => !keys.includes(key));
  const missing = keys.filter((key) => !listed.includes(key));
  // First of all lines: what is there, comments and witnesses, stays as its author wrote it.
  const kept = policy
    .split("\n")
    .filter((line) => !gone.some((key) => line.split(/[ \t]+/).includes(key)));
  const lines = [...missing.map((key) => `log ${key}`), ...kept];
  if (missing.length + gone.length === 0) await syncFolder(dirname(config.policyFile));
  else await replaceFile(config.policyFile, Buffer.from(lines.join("\n"), "latin1"), 0o444);
  return signers;
}

/** An empty tree in a folder of its own; what a broken-off earlier try left there goes. */
export async function makeEmptyTree(
  { auditDir }: AuditdConfig,
  { logDir, origin }: ShardFiles,
  signers: readonly LogSigner[],
): Promise<void> {
  await mkdir(auditDir, { recursive: true, mode: 0o750 });
  await syncFolder(dirname(auditDir));
  await rm(logDir, { recursive: true, force: true });
  await mkdir(logDir, { mode: 0o750 });
  await syncFolder(auditDir);
  await mkdir(join(logDir, "wal"), { mode: 0o700 });
  const note = await signCheckpoint({ origin, size: 0, root: new Frontier().root() }, signers);
  await replaceFile(join(logDir, "checkpoint"), note, 0o440);
}

/**
 * Whether all of the shard's first leaves are durable: then it is begun, and must not be begun again. A checkpoint of them may have been seen,
 * even if a power cut took it back.
 */
export async function isBegun(
  { logDir }: ShardFiles,
  signers: readonly LogSigner[],
): Promise<boolean> {
  const file = join(logDir, "checkpoint");
  if (!(await exists(file))) return false;
  const checkpoint = openCheckpoint(await readFile(file, "utf8"), signers);
  if (checkpoint?.size !== 0) return checkpoint !== null;
  const { leaves } = await readWal(join(logDir, "wal"), 0);
  // The last of them.
  return leaves
    .map(parseLeaf)
    .some(({ type, object }) => type === "audit.producer.start" && object.id === AUDITD);
}
