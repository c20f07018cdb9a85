/** A real auditd as its own process, on a folder of the test's own. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { Test } from "tap";
import { shippedProgram } from "@resontech/house/shipped-program";
import { pinnedIn } from "@resontech/audit/testing/step-up-people";
import { linesFrom } from "@resontech/audit/testing/lines-from";
import { temporaryFolder } from "@resontech/house/temporary-folder";

const TODAY = new Date().toISOString().slice(0, 10);

export class AuditdFixture {
  readonly root: string;
  readonly config: AuditdConfig;
  readonly configFile: string;
  /** What its clock shows, as milliseconds since the epoch when the process starts; null: the true time. */
  clockMs: number | null = null;
  #child: ChildProcess | null = null;
  #output = "";

  constructor(root: string, changes: Partial<AuditdConfig> = {}) {
    this.root = root;
    mkdirSync(join(root, "run"), { recursive: true });
    for (const folder of ["keys", "control"])
      mkdirSync(join(root, folder), { recursive: true, mode: 0o700 });
    chmodSync(join(root, "run"), 0o750);
    this.config = {
      originPrefix: "box.audit.acme",
      inception: TODAY,
      auditDir: join(root, "audit"),
      keysDir: join(root, "keys"),
      policyFile: join(root, "audit.policy"),
      stepUpKeysFile: pinnedIn(root),
      producers: ["coordinator-gate", "coordinator-record", "appliance"].map((name) => ({
        name,
        family: name.split("-")[0]!,
        socket: join(root, "run", `${name}.sock`),
        gid: null,
      })),
      controlSocket: join(root, "control", "sock"),
      clockSyncedFile: null,
      learnMs: 5_000,
      unwitnessed: "mark",
      segmentBytes: 2_097_152,
      ballastBytes: 0,
      ballastStepBytes: 1_048_576,
      checkpointMs: 100,
      heartbeatMs: 60_000,
      logLevel: "info",
      ...changes,
    };
    this.configFile = join(root, "auditd.json");
    writeFileSync(this.configFile, JSON.stringify(this.config));
  }

  init(): { origin: string; verifierKeys: string[]; policySha256: string; created: boolean } {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [...this.#clock(), shippedProgram("auditd"), "init", "--config", this.configFile],
      {
        encoding: "utf8",
      },
    );
    if (status !== 0) throw new Error(`init: ${stderr}`);
    return JSON.parse(stdout);
  }

  /** The same log as {@link init} makes, without a process: for tests of what comes after. It knows the true time alone. */
  async makeLog(): Promise<void> {
    if (this.clockMs !== null) throw new Error("a log of another day is made by init()");
    const { makeLog } = await import("./make-log.ts");
    await makeLog(this.configFile);
  }

  /** Resolves when it listens; rejects with its output when it ends before. */
  async start(): Promise<void> {
    const child = spawn(
      process.execPath,
      [...this.#clock(), shippedProgram("auditd"), "--config", this.configFile],
      {
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#child = child;
    this.#output = "";
    const listening = Promise.withResolvers<void>();
    const take = (chunk: Buffer): void => {
      this.#output += chunk.toString("utf8");
      if (this.#output.includes('"msg":"listening"')) listening.resolve();
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("close", (code) =>
      listening.reject(new Error(`auditd ended with ${code}: ${this.#output}`)),
    );
    await listening.promise;
  }

  #clock(): string[] {
    if (this.clockMs === null) return [];
    const program = `const True = Date;
const aheadMs = ${this.clockMs} - True.now();
globalThis.Date = class extends True {
  constructor(...parts) { if (parts.length === 0) super(True.now() + aheadMs); else super(...parts); }
  static now() { return True.now() + aheadMs; }
};`;
    return ["--import", `data:text/javascript,${encodeURIComponent(program)}`];
  }

  /** Asks on the operator's socket. */
  async control(request: object): Promise<Record<string, unknown>> {
    return (await linesFrom(this.config.controlSocket!, request)).at(-1) ?? {};
  }

  /** Until a checkpoint covers every entry. */
  async settled(): Promise<void> {
    const isSettled = async (): Promise<boolean> => {
      const { size, checkpointSize } = await this.control({ verb: "status" });
      return size === checkpointSize;
    };
    while (!(await isSettled())) await sleep(10);
  }

  /** As a snapshot of its disk would be: of a log to which nothing is being written. */
  async copyTo(folder: string): Promise<void> {
    await this.settled();
    cpSync(this.config.auditDir, folder, { recursive: true });
  }

  get output(): string {
    return this.#output;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null)
      return child?.exitCode ?? null;
    const ended = once(child, "exit");
    child.kill(signal);
    const [code] = await ended;
    return code as number | null;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Waits until the process has ended of itself. */
  async ended(timeoutMs: number): Promise<number | null> {
    const child = this.#child!;
    if (child.exitCode === null && child.signalCode === null)
      await Promise.race([
        once(child, "exit"),
        sleep(timeoutMs, undefined, { ref: false }).then(() =>
          Promise.reject(new Error("still running")),
        ),
      ]);
    return child.exitCode;
  }

  /** Folder of the shard that a new log begins with. */
  get logDir(): string {
    return this.shardDir(this.config.inception.slice(0, 4));
  }

  shardDir(slug: string): string {
    return join(this.config.auditDir, slug);
  }

  /** The shard that is written. */
  get currentSlug(): string {
    return readFileSync(join(this.config.auditDir, "current"), "utf8").trim();
  }

  /** Of the shard that a new log begins with. */
  get keyFile(): string {
    return join(this.config.keysDir, `${this.config.inception.slice(0, 4)}.ed25519.pem`);
  }

  socket(name: string): string {
    return join(this.root, "run", `${name}.sock`);
  }

  checkpointSize(): number {
    return Number(readFileSync(join(this.logDir, "checkpoint"), "utf8").split("\n")[1]);
  }
}

export async function startedAuditd(
  t: Test,
  changes: Partial<AuditdConfig> = {},
): Promise<AuditdFixture> {
  const fixture = new AuditdFixture(temporaryFolder(t), changes);
  await fixture.makeLog();
  t.teardown(() => fixture.stop("SIGKILL"));
  await fixture.start();
  return fixture;
}
