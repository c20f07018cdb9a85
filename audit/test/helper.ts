/** A real auditd as its own process, on a folder of the test's own. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exchangeOnSocket } from "@resontech/frame/exchange-on-socket";
import { setTimeout as sleep } from "node:timers/promises";
import type { AuditEvent, EventDraft } from "@resontech/contracts/audit-draft";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { WithRoom } from "@resontech/frame/durable-file";
import type { Test } from "tap";
import { shippedProgram } from "@resontech/house/shipped-program";
import { parseLeaf } from "../src/log/format/event/leaf.ts";
import { exportLog } from "../src/log/export/export-log.ts";
import { type Checkpoint, checkpointText, signatureOf } from "../src/log/format/note/checkpoint.ts";
import { LogReader } from "../src/log/format/tree/log-reader.ts";
import type { NoteSigner } from "../src/log/format/note/note-key.ts";
import { formatNote } from "../src/log/format/note/signed-note.ts";
import { pinnedIn } from "./step-up-people.ts";

const TODAY = new Date().toISOString().slice(0, 10);
/** An erasure searches all of its files. */
const ANSWER_MS = 600_000;

/** Asks on an operator's socket. @returns every line of the answer; a refusal is one */
export async function linesFrom(
  socketPath: string,
  request: object,
): Promise<Record<string, unknown>[]> {
  const { verb = "", ...body }: { verb?: string } = request;
  const { status, text } = await exchangeOnSocket(socketPath, {
    ...{ method: "POST", path: `/${verb}`, body: JSON.stringify(body), timeoutMs: ANSWER_MS },
  });
  if (status !== 200) return [{ error: JSON.parse(text) as unknown }];
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

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
    const [{ loadConfig }, { initLog }] = await Promise.all([
      import("../src/log/auditd/config.ts"),
      import("../src/log/auditd/init.ts"),
    ]);
    await initLog(await loadConfig(this.configFile));
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

/** For writers on a disk that nobody watches. */
export const hasRoom: WithRoom = (write) => write();

/** Short paths: a socket's path may have 107 bytes. */
export function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "rta-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
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

export function jobSubmit(
  op: string = crypto.randomUUID(),
): Omit<EventDraft<"job.submit">, "phase"> {
  return {
    type: "job.submit",
    op,
    actor: { sub: "usr-1", kind: "user", roles: ["researcher"] },
    action: "POST /api/tasks",
    object: { kind: "job", id: "job-1" },
    detail: { shards: 2, input_bytes: 1_000_000 },
  };
}

export function keyList(): Omit<EventDraft<"key.list">, "phase"> {
  return {
    type: "key.list",
    op: crypto.randomUUID(),
    actor: { sub: "usr-1", kind: "user" },
    object: { kind: "user", id: "usr-1" },
  };
}

/** What the verifier says of the shard that is written, by the appliance's own policy. */
export async function verified(auditd: AuditdFixture): Promise<object> {
  const file = join(auditd.root, "export.tar");
  await exportLog({ logDir: auditd.shardDir(auditd.currentSlug), file });
  const args = [shippedProgram("sov-verify"), file, "--policy", auditd.config.policyFile, "--json"];
  return JSON.parse(spawnSync(process.execPath, args, { encoding: "utf8" }).stdout) as object;
}

/** Every leaf of a stopped or running log that its checkpoint covers. */
export async function readLeaves(logDir: string): Promise<AuditEvent[]> {
  const size = Number(readFileSync(join(logDir, "checkpoint"), "utf8").split("\n")[1]);
  const reader = new LogReader(logDir);
  const leaves: AuditEvent[] = [];
  for (let first = 0; first < size; first += 256)
    for (const entry of await reader.readEntries(first / 256, Math.min(256, size - first)))
      leaves.push(parseLeaf(entry));
  return leaves;
}

/** As auditd signs it, under keys of the test's own. */
export function signedCheckpoint(
  checkpoint: Checkpoint,
  signers: readonly NoteSigner[],
  nowMs: number = Date.now(),
): string {
  const signatures = signers.map((signer) =>
    signatureOf(checkpoint, signer, Math.floor(nowMs / 1_000)),
  );
  return formatNote({ text: checkpointText(checkpoint), signatures });
}
