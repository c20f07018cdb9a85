/** A real auditd of a proof's own. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";

const AUDITD = fileURLToPath(import.meta.resolve("@resontech/auditd/main"));

/** Short: a socket's path may have 107 bytes. */
export function temporaryRoot(): string {
  return mkdtempSync(join(tmpdir(), "rta-"));
}

export function makeAuditdConfig(root: string): AuditdConfig {
  mkdirSync(join(root, "run"));
  mkdirSync(join(root, "keys"), { mode: 0o700 });
  chmodSync(join(root, "run"), 0o750);
  return {
    originPrefix: "proof.audit.proof",
    inception: new Date().toISOString().slice(0, 10),
    auditDir: join(root, "audit"),
    keysDir: join(root, "keys"),
    policyFile: join(root, "audit.policy"),
    producers: [
      {
        name: "coordinator-gate",
        family: "coordinator",
        socket: join(root, "run/gate.sock"),
        gid: null,
      },
    ],
    controlSocket: null,
    clockSyncedFile: null,
    learnMs: 0,
    unwitnessed: "mark",
    segmentBytes: 16_777_216,
    ballastBytes: 0,
    ballastStepBytes: 67_108_864,
    checkpointMs: 500,
    heartbeatMs: 60_000,
    logLevel: "info",
  };
}

/** The folder of its one shard. */
export function logDirOf({ auditDir, inception }: AuditdConfig): string {
  return join(auditDir, inception.slice(0, 4));
}

/** Makes the log and its keys, unless they are there. @returns its configuration file */
export function initAuditd(root: string, config: AuditdConfig): string {
  const file = join(root, "auditd.json");
  writeFileSync(file, JSON.stringify(config));
  const init = spawnSync(process.execPath, [AUDITD, "init", "--config", file], {
    encoding: "utf8",
  });
  if (init.status !== 0) throw new Error(`init: ${init.stderr}`);
  return file;
}

export async function startAuditd(
  root: string,
  config: AuditdConfig,
  printsTo: string | null = null,
): Promise<ChildProcess> {
  return spawnPrinting([AUDITD, "--config", initAuditd(root, config)], printsTo);
}

/** @param printsTo file to which all that it prints is added; null: its standard error is shown, and the rest is thrown away */
export function spawnPrinting(args: readonly string[], printsTo: string | null): ChildProcess {
  if (printsTo === null)
    return spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  const file = openSync(printsTo, "a", 0o600);
  try {
    return spawn(process.execPath, args, { stdio: ["ignore", file, file] });
  } finally {
    closeSync(file);
  }
}
