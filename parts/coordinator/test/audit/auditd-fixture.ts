import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { makeLog } from "@resontech/auditd/testing/make-log";
import { shippedProgram } from "@resontech/house/shipped-program";
import { isListening } from "@resontech/house/is-listening";

const MAIN = shippedProgram("auditd");

export type AuditdFixture = AsyncDisposable & {
  gateSocket: string;
  recordSocket: string;
  /** Of the shard that it writes. */
  logDir: string;
  policyFile: string;
  start(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
};

/**
 * The real auditd as its own process, with the coordinator's two sockets under `dir` (which must be short: 107 bytes a socket).
 * @param rootCertFile of the appliance, for whoever relays what nodes sign
 */
export async function startAuditd(
  dir: string,
  rootCertFile: string | null = null,
): Promise<AuditdFixture> {
  mkdirSync(join(dir, "s"), { recursive: true, mode: 0o750 });
  mkdirSync(join(dir, "keys"), { recursive: true, mode: 0o700 });
  const gateSocket = join(dir, "s", "gate");
  const recordSocket = join(dir, "s", "record");
  const config: AuditdConfig = {
    originPrefix: "test.audit.test",
    inception: new Date().toISOString().slice(0, 10),
    auditDir: join(dir, "audit"),
    keysDir: join(dir, "keys"),
    policyFile: join(dir, "policy"),
    producers: [
      { name: "coordinator-gate", family: "coordinator", socket: gateSocket, gid: null },
      { name: "coordinator-record", family: "coordinator", socket: recordSocket, gid: null },
    ],
    controlSocket: null,
    ...(rootCertFile === null ? {} : { nodeRelay: { producer: "coordinator-gate", rootCertFile } }),
    clockSyncedFile: null,
    learnMs: 0,
    unwitnessed: "mark",
    segmentBytes: 2_097_152,
    ballastBytes: 0,
    ballastStepBytes: 1_048_576,
    checkpointMs: 500,
    heartbeatMs: 60_000,
    logLevel: "warn",
  };
  const configFile = join(dir, "auditd.json");
  writeFileSync(configFile, JSON.stringify(config), { mode: 0o400 });
  await makeLog(configFile);
  let child: ChildProcess | null = null;
  const fixture: AuditdFixture = {
    gateSocket,
    recordSocket,
    logDir: join(config.auditDir, config.inception.slice(0, 4)),
    policyFile: config.policyFile,
    async start() {
      child = spawn(process.execPath, [MAIN, "--config", configFile], {
        stdio: ["ignore", "ignore", "inherit"],
      });
      const exited = once(child, "exit");
      while (child.exitCode === null && !(await isListening(recordSocket)))
        await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, 20))]);
    },
    async stop(signal = "SIGTERM") {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill(signal);
      await exited;
    },
    [Symbol.asyncDispose]: () => fixture.stop("SIGKILL"),
  };
  await fixture.start();
  return fixture;
}
