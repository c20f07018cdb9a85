/** The ceremony that makes a log: key, policy, then the checkpoint of the empty tree. Only here does a log begin. */
import { createHash, generateKeyPairSync } from "node:crypto";
import { access, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { replaceFile, syncFolder } from "../log/durable-file.ts";
import { Frontier } from "../log/merkle.ts";
import { signCheckpoint, verifierKey } from "../log/signed-note.ts";
import { ConfigError, loadSigner } from "./config.ts";

export type InitResult = { origin: string; verifierKey: string; policySha256: string; created: boolean };

/**
 * Makes key, policy and empty log; what a broken-off earlier run made is kept, so it is safe to repeat. A log that is there stays.
 * @throws {@link ConfigError} when there is a log without its key: a new key can't continue it
 */
export async function initLog(config: AuditdConfig): Promise<InitResult> {
  const checkpointFile = join(config.logDir, "checkpoint");
  const hasLog = (await exists(checkpointFile)) || (await exists(join(config.logDir, "tile")));
  if (!(await exists(config.keyFile))) {
    if (hasLog) throw new ConfigError(`${config.logDir} holds a log, but its key ${config.keyFile} is gone`);
    await replaceFile(config.keyFile, generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }), 0o400);
  }
  const signer = await loadSigner(config);
  const policy = policyText(verifierKey(signer));
  if (!(await exists(config.policyFile))) await replaceFile(config.policyFile, policy, 0o444);
  if ((await readFile(config.policyFile, "utf8")) !== policy)
    throw new ConfigError(`${config.policyFile} is not the policy of ${config.keyFile} and ${config.origin}`);
  if (!hasLog) {
    if ((await mkdir(config.logDir, { recursive: true, mode: 0o750 })) !== undefined) await syncFolder(dirname(config.logDir));
    await mkdir(join(config.logDir, "wal"), { recursive: true, mode: 0o700 });
    await replaceFile(
      checkpointFile,
      signCheckpoint({ origin: config.origin, size: 0, root: new Frontier().root() }, signer),
      0o440,
    );
  }
  return {
    origin: config.origin,
    verifierKey: verifierKey(signer),
    policySha256: createHash("sha256").update(policy).digest("hex"),
    created: !hasLog,
  };
}

/** C2SP tlog-policy: one log, no witnesses yet. */
function policyText(key: string): string {
  return `log ${key}\nquorum none\n`;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
