import { type ChildProcess, spawn } from "node:child_process";
import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { ErrorReply } from "@resontech/contracts/http-common";
import { operatorHttpRequest, PERSON_HEADER } from "@resontech/contracts/operator-route";
import {
  OPERATOR_ROUTES,
  type AskOperator,
  type OperatorAnswer,
  type OperatorAsked,
  type OperatorVerb,
} from "@resontech/contracts/operator-routes";
import { exchangeOnSocket } from "@resontech/frame/exchange-on-socket";
import {
  COORDINATOR_NODE_FLAGS,
  type CoordinatorConfig,
} from "@resontech/contracts/coordinator-config";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { VaultFixture } from "@resontech/vault/testing/vault-fixture";
import Database from "better-sqlite3";
import type { ApplianceRole } from "../../src/authorization/roles.ts";
import { Seal } from "../../src/identity/seal.ts";
import { setRoles } from "../../src/identity/role-holders.ts";
import { insertSession } from "../../src/identity/sign-in/session-store.ts";
import { type NatsFixture, startNats } from "../bus/nats-fixture.ts";
import { makeTestCa } from "../nodes/node-certificates.ts";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { startS3BehindFront } from "./s3-behind-front.ts";
import { type S3Engine, startS3Engine } from "./s3-engine.ts";
import { SERVE_IMAGE, TEST_IMAGE } from "./test-app.ts";
import { type DoorCertificates, RunningDoor } from "@resontech/door/testing/running-door";
import { shippedProgram } from "@resontech/house/shipped-program";

/** Keys of the coordinator's clients at Keycloak, and of sessions. */
function makeIdentity(
  dir: string,
  { caFile, certFile, keyFile }: DoorCertificates,
): NonNullable<CoordinatorConfig["identity"]> {
  const file = (name: string, content: string): string => {
    writeFileSync(join(dir, name), content, { mode: 0o400 });
    return join(dir, name);
  };
  const key = (): string =>
    generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
      ...{ type: "pkcs8", format: "pem" },
    });
  return {
    ...{ port: 1, caFile, clientCertFile: certFile, clientKeyFile: keyFile },
    dashboardKeyFile: file("dashboard-client.key", key()),
    coordinatorKeyFile: file("keycloak-client.key", key()),
    sessionKeyFile: file("session.key", randomBytes(32).toString("base64url")),
  };
}

const AUDIT_OUT = shippedProgram("audit-out");
const SERVER = shippedProgram("coordinator");
const SERVING_SOCKET = "serving.sock";

/** The coordinator as its own process behind the real front door, with the real auditd, NATS and S3 engine. */
export class RunningCoordinator implements AsyncDisposable {
  readonly config: CoordinatorConfig;
  readonly s3: S3Engine;
  readonly auditd: AuditdFixture;
  readonly nats: NatsFixture;
  readonly url: string;
  readonly caPem: string;
  readonly #configFile: string;
  readonly #cleanup: AsyncDisposableStack;
  readonly #vault: VaultFixture | null;
  #child: ChildProcess | null = null;
  #output = "";

  private constructor(
    config: CoordinatorConfig,
    s3: S3Engine,
    auditd: AuditdFixture,
    nats: NatsFixture,
    dir: string,
    cleanup: AsyncDisposableStack,
    vault: VaultFixture | null,
  ) {
    this.config = config;
    this.s3 = s3;
    this.auditd = auditd;
    this.nats = nats;
    this.url = config.publicUrl;
    this.caPem = readFileSync(s3.caFile, "utf8");
    this.#configFile = join(dir, "coordinator.json");
    this.#cleanup = cleanup;
    this.#vault = vault;
    writeFileSync(this.#configFile, JSON.stringify(config), { mode: 0o400 });
  }

  /**
   * @param options.identity people may have sessions; no Keycloak answers, so that a session is never asked after
   * @param options.dashboardDir pages that it gives out
   * @param options.idleS seconds without input after which a person is signed out
   * @param options.vault with a real vault, so that entries are found by the values that they keep sealed
   * @param options.downloadsDir what it gives out for laptops
   * @param options.gatewaySha256 of the certificate of a gateway of deployments, which a test opens itself
   * @param options.prometheus where it reads figures that were kept
   * @param options.front the object store stands behind the real S3 front, which holds quotas
   */
  static async create(
    options: {
      vault?: boolean;
      identity?: boolean;
      dashboardDir?: string;
      front?: boolean;
      idleS?: number;
      downloadsDir?: string;
      releaseDir?: string;
      gatewaySha256?: string;
      prometheus?: CoordinatorConfig["prometheus"];
    } = {},
  ): Promise<RunningCoordinator> {
    await using stack = new AsyncDisposableStack();
    // Short: a socket's path may have 107 bytes.
    const dir = mkdtempSync(join(tmpdir(), "rtc-"));
    stack.defer(() => rmSync(dir, { recursive: true, force: true }));
    const auditRoot = join(dir, "audit");
    const producers = [
      ...["coordinator-gate", "coordinator-record", "appliance", "vault"],
      ...(options.front === true ? ["s3-front"] : []),
    ].map((name) => ({
      name,
      family: name === "s3-front" ? name : name.split("-")[0]!,
      socket: join(auditRoot, "run", `${name}.sock`),
      gid: null,
    }));
    const needsMore = options.vault === true || options.front === true;
    const auditd = new AuditdFixture(auditRoot, needsMore ? { producers } : {});
    await auditd.makeLog();
    await auditd.start();
    stack.defer(async () => void (await auditd.stop("SIGKILL")));
    mkdirSync(join(dir, "run"), { mode: 0o700 });
    const frontSocket = join(dir, "run", "front");
    const s3 =
      options.front === true
        ? await startS3BehindFront(dir, {
            auditSocket: auditd.socket("s3-front"),
            coordinatorSocket: frontSocket,
          })
        : await startS3Engine(dir);
    stack.defer(() => s3.close());
    const vault = options.vault === true ? new VaultFixture(auditd.root) : null;
    await vault?.start();
    stack.defer(async () => await vault?.stop("SIGKILL"));
    const ca = await makeTestCa(join(dir, "ca"));
    const nats = stack.use(await startNats(dir, ca));
    writeFileSync(join(dir, "s3-admin.json"), JSON.stringify(s3.admin), { mode: 0o400 });
    const apiSocket = join(dir, "api", "sock");
    mkdirSync(join(dir, "api"), { mode: 0o750 });
    const door = stack.use(
      await RunningDoor.start(join(dir, "door"), s3, {
        ...{ coordinatorSocket: apiSocket, servingSocket: join(dir, SERVING_SOCKET) },
      }),
    );
    const config: CoordinatorConfig = {
      listen: { socket: apiSocket },
      publicUrl: `https://localhost:${door.port}`,
      databaseFile: join(dir, "coordinator.db"),
      controlSocket: join(dir, "run", "control"),
      frontSocket,
      audit: {
        gateSocket: auditd.socket("coordinator-gate"),
        recordSocket: auditd.socket("coordinator-record"),
        searchSocket: join(dir, "out", "search"),
      },
      nats: nats.config,
      s3: {
        ...{
          endpoint: s3.endpoint,
          region: s3.region,
          caFile: s3.caFile,
          adminKeyFile: join(dir, "s3-admin.json"),
        },
        ...{ volumePath: dir, bucketQuotaBytes: 1024 ** 3 },
      },
      registry: {
        host: "localhost:5000",
        service: "registry",
        tokenKeyFile: s3.keyFile,
        tokenCertFile: s3.certFile,
      },
      ca,
      metrics: {
        tokenFiles: [join(dir, "own-metrics.token"), join(dir, "metrics.token")],
        factsFile: join(dir, "facts.json"),
      },
      images: [TEST_IMAGE, ...(options.gatewaySha256 === undefined ? [] : [SERVE_IMAGE])],
      keyKind: "dev",
      natsPublicUrl: nats.url,
      logLevel: "info",
    };
    const { rootCertFile, intermediateCertFile, intermediateKeyFile } = ca;
    if (options.dashboardDir !== undefined) config.dashboardDir = options.dashboardDir;
    if (options.gatewaySha256 !== undefined) {
      mkdirSync(join(dir, "routes"), { mode: 0o750 });
      config.inference = {
        routesSocket: join(dir, "routes", "sock"),
        gatewayCertificateSha256: options.gatewaySha256,
      };
    }
    if (options.prometheus !== undefined) config.prometheus = options.prometheus;
    if (options.releaseDir !== undefined) config.releaseDir = options.releaseDir;
    if (options.downloadsDir !== undefined) config.downloadsDir = options.downloadsDir;
    if (options.identity === true)
      config.identity = {
        ...makeIdentity(dir, s3),
        ...(options.idleS === undefined ? {} : { idleS: options.idleS }),
      };
    config.ca = { rootCertFile, intermediateCertFile, intermediateKeyFile };
    const running = new RunningCoordinator(config, s3, auditd, nats, dir, stack.move(), vault);
    try {
      await running.start();
    } catch (error) {
      await running[Symbol.asyncDispose]();
      throw error;
    }
    return running;
  }

  /** Where the front door passes calls of deployments. */
  get servingSocket(): string {
    return join(dirname(this.#configFile), SERVING_SOCKET);
  }

  get output(): string {
    return this.#output;
  }

  /** Resolves when it is ready; rejects with its output when it ends before. */
  async start(program: string = SERVER): Promise<void> {
    const child = spawn(
      process.execPath,
      [...COORDINATOR_NODE_FLAGS, program, "--config", this.#configFile],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    this.#child = child;
    this.#output = "";
    child.stdout.on("data", (chunk: Buffer) => (this.#output += chunk.toString("utf8")));
    child.stderr.on("data", (chunk: Buffer) => (this.#output += chunk.toString("utf8")));
    for (const deadline = Date.now() + 120_000; ; await sleep(50)) {
      if (child.exitCode !== null || Date.now() > deadline)
        throw new Error(`the coordinator is not ready: ${this.#output}`);
      if (
        this.#output.includes('"msg":"listening"') &&
        (await this.get("/readyz").catch(() => null))?.status === 200
      )
        return;
    }
  }

  async stop(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null)
      return child?.exitCode ?? null;
    const ended = once(child, "exit");
    child.kill(signal);
    const [code] = await ended;
    return code as number | null;
  }

  /** The real audit-out on this log; its configuration must be root's, so root must run the test. Ends with the coordinator. */
  async startSearch(): Promise<{ stop(): Promise<void> }> {
    const { auditDir, policyFile } = this.auditd.config;
    const { searchSocket } = this.config.audit;
    const stateDir = dirname(searchSocket);
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    const configFile = join(stateDir, "audit-out.json");
    const auditSocket = this.auditd.socket("audit-out");
    rmSync(configFile, { force: true });
    const tokensSocket = this.#vault?.config.tokensSocket ?? null;
    const searchConfig = {
      auditDir,
      policyFile,
      stateDir,
      auditSocket,
      searchSocket,
      tokensSocket,
      pollMs: 20,
    };
    writeFileSync(configFile, JSON.stringify(searchConfig), { mode: 0o440 });
    const child = spawn(process.execPath, [AUDIT_OUT, "--config", configFile], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const stop = async (): Promise<void> => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    };
    this.#cleanup.defer(stop);
    for await (const line of createInterface({ input: child.stdout }))
      if (line.includes('"msg":"listening"')) break;
    child.stdout.resume();
    return { stop };
  }

  /** Asks as a person with a session of these roles that began just now. */
  async signedIn(
    userId: string,
    { roles = [], acr = "2" }: { roles?: readonly ApplianceRole[]; acr?: string } = {},
  ): Promise<Record<string, string>> {
    const keyFile = this.config.identity?.sessionKeyFile ?? "";
    const seal = new Seal(Buffer.from(readFileSync(keyFile, "utf8"), "base64url"));
    const cookie = randomBytes(32).toString("base64url");
    const at = Date.now();
    const db = new Database(this.config.databaseFile, { timeout: 60_000 });
    try {
      insertSession(db, {
        hash: createHash("sha256").update(cookie).digest(),
        ...{ id: `s_${randomBytes(8).toString("hex")}`, userId, sid: `sid-${userId}` },
        ...{ roles: [...roles], acr, signedInAt: at, beganAt: at, activeAt: at, checkedAt: at },
        endsAt: at + 3_600_000,
        tokens: seal.seal("session-tokens", { refresh: "none", id: "none" }),
      });
    } finally {
      db.close();
    }
    return {
      cookie: `__Host-rt=${cookie}`,
      "sec-fetch-site": "same-origin",
      "x-rt-csrf": seal.derive("csrf", cookie).toString("base64url"),
    };
  }

  /** All that the user holds on the whole appliance from now on. */
  giveRoles(userId: string, roles: readonly ApplianceRole[]): void {
    this.changeRows((db) => setRoles(db, userId, roles));
  }

  /** Changes rows beside the process, or while it is stopped. */
  changeRows(change: (db: Database.Database) => void): void {
    const db = new Database(this.config.databaseFile, { timeout: 60_000 });
    try {
      db.transaction(() => change(db)).immediate();
    } finally {
      db.close();
    }
  }

  /** Asks as the host's root. @throws with what it was refused for */
  readonly control: AskOperator = async <V extends OperatorVerb>(
    verb: V,
    asked?: OperatorAsked<V>,
  ) => {
    const { status, body } = await this.askControl(verb, Object.assign({}, asked));
    if (status >= 300) throw new Error(`${verb}: ${JSON.stringify(body)}`);
    return body as OperatorAnswer<V>;
  };

  /** Why the host's root is refused something. @throws where it is done */
  async refused<V extends OperatorVerb>(verb: V, asked: OperatorAsked<V>): Promise<ErrorReply> {
    const { status, body } = await this.askControl(verb, Object.assign({}, asked));
    if (status < 300) throw new Error(`${verb} is done: ${JSON.stringify(body)}`);
    return body as ErrorReply;
  }

  /** @param person of the host who asks */
  async askControl(
    verb: OperatorVerb,
    asked: Readonly<Record<string, unknown>>,
    person?: string,
  ): Promise<{ status: number; body: unknown }> {
    const { body, ...request } = operatorHttpRequest(OPERATOR_ROUTES[verb], asked);
    const { status, text } = await exchangeOnSocket(this.config.controlSocket, {
      ...{ ...request, body: body === null ? null : JSON.stringify(body), timeoutMs: 60_000 },
      headers: person === undefined ? {} : { [PERSON_HEADER]: person },
    });
    return { status, body: JSON.parse(text) as unknown };
  }

  get(path: string, key?: string) {
    return this.request("GET", path, key);
  }

  async request(
    method: string,
    path: string,
    key?: string,
    body?: object,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const headers = {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const reply = await fetchWithCa(this.caPem, this.url + path, init);
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
    await this.#cleanup.disposeAsync();
  }
}
