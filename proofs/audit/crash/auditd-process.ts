/** One auditd with files of its own: started, killed and started again. */
import { askLine } from "@resontech/frame/ask-lines";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { makeAuditdConfig } from "../instances/auditd-instance.ts";

const MAIN = fileURLToPath(import.meta.resolve("@resontech/auditd/main"));
const MIB = 1_048_576;
/** A start on two busy cores takes a second. */
const START_LIMIT_MS = 60_000;
const ANSWER_MS = 120_000;

/** auditd ended instead of listening, or instead of making a log. */
export class StartRefusedError extends Error {
  override readonly name = "StartRefusedError";
}

export class AuditdProcess {
  readonly config: AuditdConfig;
  readonly #configFile: string;
  readonly #environment: NodeJS.ProcessEnv;
  #child: ChildProcess | null = null;
  #output = "";

  /**
   * @param root a folder of its own, for sockets and configuration
   * @param disk what auditd writes: `audit/`, `keys/`, `policy/`
   */
  constructor(
    root: string,
    disk: string,
    changes: Partial<AuditdConfig> = {},
    environment: NodeJS.ProcessEnv = {},
  ) {
    mkdirSync(root, { recursive: true });
    const made = makeAuditdConfig(root);
    this.config = {
      ...made,
      auditDir: join(disk, "audit"),
      keysDir: join(disk, "keys"),
      policyFile: join(disk, "policy/audit.policy"),
      producers: ["coordinator-gate", "coordinator-record"].map((name) => ({
        name,
        family: "coordinator",
        socket: join(root, "run", `${name}.sock`),
        gid: null,
      })),
      segmentBytes: 2 * MIB,
      ballastBytes: 2 * MIB,
      ballastStepBytes: MIB,
      checkpointMs: 20,
      ...changes,
    };
    this.#environment = { ...process.env, ...environment };
    this.#configFile = join(root, "auditd.json");
    writeFileSync(this.#configFile, JSON.stringify(this.config));
  }

  get logDir(): string {
    return join(this.config.auditDir, this.config.inception.slice(0, 4));
  }

  get gateSocket(): string {
    return this.config.producers[0]!.socket;
  }

  get recordSocket(): string {
    return this.config.producers[1]!.socket;
  }

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get output(): string {
    return this.#output;
  }

  /** @throws {@link StartRefusedError} with what it said */
  async init(environment: NodeJS.ProcessEnv = {}): Promise<void> {
    const child = this.#spawn(["init"], environment);
    const [code] = await once(child, "close");
    if (code !== 0) throw new StartRefusedError(`init: ${this.#output}`);
  }

  /** Resolves when it listens. @throws {@link StartRefusedError} with what it said */
  async start(environment: NodeJS.ProcessEnv = {}): Promise<void> {
    const child = this.#spawn([], environment);
    const listening = Promise.withResolvers<void>();
    child.stdout!.on("data", () => {
      if (this.#output.includes('"msg":"listening"')) listening.resolve();
    });
    child.on("close", () => listening.reject(new StartRefusedError(this.#output)));
    const timer = setTimeout(() => child.kill("SIGKILL"), START_LIMIT_MS);
    try {
      await listening.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Asks on the operator's socket. @throws what it refuses, or when it ends before it answers */
  async control<T = unknown>(request: object): Promise<T> {
    const asked = request as { verb: string };
    return (await askLine(this.config.controlSocket!, asked, ANSWER_MS)) as T;
  }

  /** Ends it and waits for that. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    if (!this.isRunning) return;
    const closed = once(this.#child!, "close");
    this.#child!.kill(signal);
    await closed;
  }

  /** One that does not end it. */
  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  /** Waits until it has ended of itself. */
  async ended(): Promise<void> {
    if (this.isRunning) await once(this.#child!, "exit");
  }

  async hasEnded(withinMs: number): Promise<boolean> {
    return Promise.race([this.ended().then(() => true), sleep(withinMs, false, { ref: false })]);
  }

  #spawn(args: string[], environment: NodeJS.ProcessEnv): ChildProcess {
    this.#output = "";
    const child = spawn(process.execPath, [MAIN, ...args, "--config", this.#configFile], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...this.#environment, ...environment },
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        this.#output += chunk.toString("utf8");
      });
    this.#child = child;
    return child;
  }
}
