/** The front as its own process with the real engine behind it, the real auditd beside it, and the coordinator's real answers. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connectProducer } from "@resontech/audit/producer";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { S3ObjectStore } from "@resontech/coordinator/object-store";
import { type S3Credentials, S3Transport } from "@resontech/coordinator/s3-transport";
import { S3Users } from "@resontech/coordinator/s3-users";
import { type FrontUser, FrontWorld } from "@resontech/coordinator/testing/front-world";
import { ensureEngine } from "@resontech/airgap/engines";
import { makeTestCa, type TestCa } from "@resontech/house/test-ca";
import { shippedProgram } from "@resontech/house/shipped-program";
import { s3Front } from "../../part.ts";
import type { S3FrontConfig } from "../../src/config.ts";
import { freePort } from "@resontech/house/free-port";

const MAIN = shippedProgram("s3-front");
const REGION = "garage";
/** A producer that only asks how long the log is. */
const READER = "reader";
/** Those of the coordinator, for tests that say what it says. */
const COORDINATOR = ["coordinator-gate", "coordinator-record"];
/** How long no leaf must come: a record that closes an operation may be sent after its answer. */
const QUIET_MS = 400;

/** @property vault auditd takes one: the test starts it */
/** Where pages of the dashboard would come from. */
export const PAGE_ORIGIN = "https://appliance.example:8000";

type Options = { outputExport?: "open" | "controlled"; vault?: boolean };

export class RunningFront implements AsyncDisposable {
  readonly dir: string;
  readonly ca: TestCa;
  readonly caPem: string;
  readonly config: S3FrontConfig;
  readonly auditd: AuditdFixture;
  readonly admin: S3Credentials = {
    accessKeyId: `ADMIN${randomBytes(6).toString("hex")}`,
    secretAccessKey: randomBytes(24).toString("base64url"),
  };
  readonly store: S3ObjectStore;
  readonly transport: S3Transport;
  readonly coordinator: FrontWorld;
  readonly #binary: string;
  readonly #transports: S3Transport[] = [];
  #engine: ChildProcess | null = null;
  #front: ChildProcess | null = null;
  #output = "";

  private constructor(
    dir: string,
    ca: TestCa,
    binary: string,
    port: number,
    { outputExport = "open", vault = false }: Options,
  ) {
    this.dir = dir;
    this.ca = ca;
    this.caPem = readFileSync(ca.caFile, "utf8");
    this.#binary = binary;
    for (const name of ["objects", "versions", "iam", "run"])
      mkdirSync(join(dir, name), { mode: 0o750 });
    this.auditd = new AuditdFixture(join(dir, "audit"), {
      producers: ["s3-front", ...COORDINATOR, READER, ...(vault ? ["vault"] : [])].map((name) => ({
        name,
        family: name,
        socket: join(dir, "audit", "run", `${name}.sock`),
        gid: null,
      })),
    });
    this.config = {
      listen: { host: "127.0.0.1", port, tls: { certFile: ca.certFile, keyFile: ca.keyFile } },
      engineSocket: join(dir, "run", "engine"),
      auditSocket: this.auditd.socket("s3-front"),
      coordinatorSocket: join(dir, "run", "coordinator"),
      outputExport,
      pageOrigin: PAGE_ORIGIN,
    };
    writeFileSync(
      join(dir, "s3-front.json"),
      JSON.stringify({ logLevel: "info", sockets: {}, dataDir: null, own: this.config }),
    );
    this.transport = this.transportOf(this.admin);
    this.store = new S3ObjectStore(this.transport);
    this.coordinator = new FrontWorld({
      ...{ database: join(dir, "coordinator.db"), socket: this.config.coordinatorSocket },
      ...{ adminAccessKeyId: this.admin.accessKeyId, store: this.store },
      users: new S3Users(this.transport),
    });
  }

  static async create(options: Options = {}): Promise<RunningFront> {
    // Short: a socket's path may have 107 bytes.
    const dir = mkdtempSync(join(tmpdir(), "rtf-"));
    const [ca, binary, port] = await Promise.all([makeTestCa(dir), ensureEngine("s3"), freePort()]);
    const running = new RunningFront(dir, ca, binary, port, options);
    try {
      await running.auditd.makeLog();
      await Promise.all([
        running.auditd.start(),
        running.startEngine(),
        running.coordinator.start(),
      ]);
      await running.startFront();
    } catch (error) {
      await running[Symbol.asyncDispose]();
      throw error;
    }
    return running;
  }

  get endpoint(): string {
    return `https://localhost:${this.config.listen.port}`;
  }

  get output(): string {
    return this.#output;
  }

  get frontPid(): number {
    return this.#front?.pid ?? 0;
  }

  get enginePid(): number {
    return this.#engine?.pid ?? 0;
  }

  transportOf(credentials: S3Credentials): S3Transport {
    const transport = new S3Transport({
      endpoint: this.endpoint,
      region: REGION,
      ca: this.caPem,
      credentials,
    });
    this.#transports.push(transport);
    return transport;
  }

  storeOf(user: FrontUser): S3ObjectStore {
    return new S3ObjectStore(this.transportOf(user.keys));
  }

  /** A user with a bucket as the coordinator makes them, through the front. */
  addUser(quotaBytes = 1024 ** 3, named?: string): Promise<FrontUser> {
    return this.coordinator.addUser(quotaBytes, named);
  }

  /** From the engine's disk, with what is locked in it. */
  dropBucket(bucket: string): void {
    for (const folder of ["objects", "versions"])
      rmSync(join(this.dir, folder, bucket), { recursive: true, force: true });
  }

  async startEngine(): Promise<void> {
    const { dir, admin } = this;
    rmSync(this.config.engineSocket, { force: true });
    this.#engine = spawn(
      this.#binary,
      [
        ...[
          "--port",
          this.config.engineSocket,
          "--socket-perm",
          "0660",
          "--keep-alive",
          "--region",
          REGION,
        ],
        ...["--iam-dir", join(dir, "iam"), "--health", "/healthz", "--quiet"],
        ...["posix", "--versioning-dir", join(dir, "versions"), join(dir, "objects")],
      ],
      {
        env: {
          ROOT_ACCESS_KEY_ID: admin.accessKeyId,
          ROOT_SECRET_ACCESS_KEY: admin.secretAccessKey,
        },
        stdio: "ignore",
      },
    );
    await until(
      () => unixStatus(this.config.engineSocket).then((status) => status === 200),
      "the engine is not up",
    );
  }

  async startFront(): Promise<void> {
    const child = spawn(
      process.execPath,
      [...(s3Front.nodeFlags ?? []), MAIN, "--config", join(this.dir, "s3-front.json")],
      {
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#front = child;
    this.#output = "";
    child.stdout.on("data", (chunk: Buffer) => (this.#output += chunk.toString("utf8")));
    child.stderr.on("data", (chunk: Buffer) => (this.#output += chunk.toString("utf8")));
    await until(() => {
      if (child.exitCode !== null) throw new Error(`the front ended: ${this.#output}`);
      return Promise.resolve(this.#output.includes('"msg":"listening"'));
    }, "the front is not up");
  }

  async stopFront(signal: NodeJS.Signals): Promise<void> {
    await ended(this.#front, signal);
  }

  async stopEngine(signal: NodeJS.Signals): Promise<void> {
    await ended(this.#engine, signal);
  }

  /** Every leaf so far but those of the reading itself, once no more of them come and the log has signed for all. */
  async leaves(): Promise<AuditEvent[]> {
    await using reader = await connectProducer({
      socketPath: this.auditd.socket(READER),
      boot: randomUUID(),
    });
    let { size } = await reader.status();
    for (let known = -1; size !== known; ) {
      known = size;
      await sleep(QUIET_MS);
      ({ size } = await reader.status());
    }
    await reader.covered(size - 1);
    const leaves = await readLeaves(this.auditd.logDir);
    // Its own arrival is a leaf as well.
    return leaves.filter(
      ({ type, object }) => type !== "audit.producer.start" || object.id !== READER,
    );
  }

  /** Waits for an entry that is so. @param from entries before this one count not */
  async untilLeaf(isSo: (leaf: AuditEvent) => boolean, from = 0): Promise<void> {
    await until(
      async () => (await readLeaves(this.auditd.logDir)).slice(from).some(isSo),
      "there was no such entry",
    );
  }

  /** Entries of the log so far. */
  async leafCount(): Promise<number> {
    return (await readLeaves(this.auditd.logDir)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const transport of this.#transports) transport[Symbol.dispose]();
    await ended(this.#front, "SIGKILL");
    await this.coordinator[Symbol.asyncDispose]();
    await ended(this.#engine, "SIGKILL");
    await this.auditd.stop("SIGKILL");
    rmSync(this.dir, { recursive: true, force: true });
  }
}

async function ended(child: ChildProcess | null, signal: NodeJS.Signals): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

async function until(
  isTrue: () => Promise<boolean>,
  otherwise: string,
  timeoutMs = 60_000,
): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; !(await isTrue()); await sleep(25))
    if (Date.now() > deadline) throw new Error(otherwise);
}

async function unixStatus(socketPath: string): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  httpRequest({ socketPath, path: "/healthz", headers: { host: "engine" } }, (response) => {
    response.resume();
    resolve(response.statusCode ?? null);
  })
    .on("error", () => resolve(null))
    .end();
  return await promise;
}
