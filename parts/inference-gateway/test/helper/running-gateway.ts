import { spawn } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Route, ROUTES_EVERY_MS } from "@resontech/contracts/inference-routes";
import { pino } from "pino";
import { ServerBridge } from "@resontech/agent/server-bridge";
import { TestPki } from "@resontech/house/test-pki";
import { isListening } from "@resontech/house/is-listening";
import { shippedProgram } from "@resontech/house/shipped-program";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { CALLS_FOLDER } from "../../part.ts";
import { openServing } from "../../src/open-serving.ts";
import { noWayOut } from "./no-way-out.ts";
import { JOURNAL_NAME } from "../../src/records/call-journal.ts";
import { type CallLine, readCallLine } from "../../src/records/call-line.ts";
import { freePort } from "@resontech/house/free-port";

const HOST = "127.0.0.1";
const sha256Of = (pem: string) =>
  new X509Certificate(pem).fingerprint256.replaceAll(":", "").toLowerCase();

/** What of a deployment a test says itself. */
export type TestRoute = Pick<
  Route,
  "deployment" | "name" | "api" | "engine" | "maxOngoingRequests"
> & { key: string };

/** Behind an agent's bridge, which lets in this gateway. */
export type AgentsReplica = {
  pki: Pick<TestPki, "rootFile">;
  gateway: { certPem: string; keyPem: string };
  replica: Route["replicas"][number];
};

/** The gateway before the real bridge of an agent, the real auditd beside it, whose target is a port of this host. The coordinator is scripted. */
export class RunningGateway implements AsyncDisposable {
  readonly socket: string;
  readonly #callsDir: string;
  readonly #stack: AsyncDisposableStack;

  private constructor(socket: string, callsDir: string, stack: AsyncDisposableStack) {
    this.socket = socket;
    this.#callsDir = callsDir;
    this.#stack = stack;
  }

  /** The journal of calls, oldest line first. */
  readCalls(): CallLine[] {
    return readdirSync(this.#callsDir)
      .filter((name) => JOURNAL_NAME.test(name))
      .sort()
      .flatMap((name) => readFileSync(join(this.#callsDir, name), "utf8").split("\n"))
      .map(readCallLine)
      .filter((line) => line !== null && line.kind !== "batch");
  }

  /**
   * @param dir a short path: sockets lie there
   * @param target port of the replica that answers for every route, or where a real agent has one
   * @param isOwnProcess the program as it ships, so that it shares no thread with whoever calls it
   */
  static async open(
    dir: string,
    target: number | AgentsReplica,
    routes: readonly TestRoute[],
    { isOwnProcess }: { isOwnProcess: boolean } = { isOwnProcess: false },
  ): Promise<RunningGateway> {
    await using stack = new AsyncDisposableStack();
    const log = pino({ level: "silent" });
    const { pki, gateway, replica } =
      typeof target === "number" ? await bridged(dir, target, stack) : target;
    const told = routes.map(
      ({ key, ...route }, at): Route => ({
        ...{ generation: 1, state: "HOT", wakeMs: 0 },
        ...{ ...route, project: "p_1", aliases: [], visibility: "PRIVATE", createdAt: 1_000 * at },
        keySha256: createHash("sha256").update(key).digest("hex"),
        replicas: [replica],
      }),
    );
    mkdirSync(join(dir, "routes"), { mode: 0o750 });
    const routesSocket = join(dir, "routes", "sock");
    const coordinator = createServer((socket) => {
      socket.on("error", () => {});
      const tell = () => socket.write(`${JSON.stringify({ routes: told })}\n`);
      tell();
      // As the coordinator does: without a word for long the gateway knows nobody.
      const telling = setInterval(tell, ROUTES_EVERY_MS);
      socket.on("close", () => clearInterval(telling));
      stack.defer(() => void socket.destroy());
    });
    coordinator.listen(routesSocket);
    await once(coordinator, "listening");
    stack.defer(() => void coordinator.close());
    const file = (name: string, text: string): string => {
      writeFileSync(join(dir, name), text, { mode: 0o600 });
      return join(dir, name);
    };
    const socket = join(dir, "serving.sock");
    const auditSocket = join(dir, "audit", "run", "serving.sock");
    const auditd = new AuditdFixture(join(dir, "audit"), {
      producers: [{ name: "serving", family: "serving", socket: auditSocket, gid: null }],
      // As the appliance has it.
      checkpointMs: 500,
    });
    await auditd.makeLog();
    await auditd.start();
    stack.defer(async () => void (await auditd.stop("SIGKILL")));
    const callsDir = join(dir, CALLS_FOLDER);
    const { callbacksDir, outbound } = noWayOut(dir);
    const own = {
      ...{ routesSocket, auditSocket, outbound },
      certFile: file("gateway.pem", gateway.certPem),
      keyFile: file("gateway.key", gateway.keyPem),
      rootCertFile: pki.rootFile,
    };
    if (isOwnProcess) {
      const config = { logLevel: "info", sockets: { calls: socket }, dataDir: dir, own };
      stack.use(await startProgram(file("serving.json", JSON.stringify(config)), socket));
    } else stack.use(await openServing({ ...own, socket, callsDir, callbacksDir }, log));
    chmodSync(socket, 0o600);
    return new RunningGateway(socket, callsDir, stack.move());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack[Symbol.asyncDispose]();
  }
}

/** The bridge of an agent that there is none of. */
async function bridged(
  dir: string,
  target: number,
  stack: AsyncDisposableStack,
): Promise<AgentsReplica> {
  const pki = await TestPki.make(join(dir, "pki"), HOST);
  const [node, gateway] = [await pki.identity("node-a"), await pki.identity("gateway")];
  const port = await freePort();
  const peers = [{ node: "gateway", certificateSha256: sha256Of(gateway.certPem) }];
  const bridge = await ServerBridge.listen({
    ...{ attempt: "a", listen: { host: HOST, port }, target: { host: HOST, port: target } },
    ...{ gateway: HOST, peers, identity: { ...node, rootCertPem: pki.rootPem } },
    log: pino({ level: "silent" }),
  });
  stack.defer(() => bridge.close());
  const replica = {
    ...{ member: "job-1-a1-replica", node: "node-a", host: HOST, port },
    ...{ certificateSha256: sha256Of(node.certPem), isOpen: true },
  };
  return { pki, gateway, replica };
}

async function startProgram(configFile: string, socket: string): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, [shippedProgram("serving"), "--config", configFile], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  for (let tries = 0; tries < 4_000 && !(await isListening(socket)); tries++) {
    if (child.exitCode !== null) throw new Error("the gateway ended");
    await sleep(25);
  }
  return { [Symbol.asyncDispose]: stop };
}
