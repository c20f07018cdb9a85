import { createHash, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type Route, ROUTES_EVERY_MS } from "@resontech/contracts/inference-routes";
import { pino } from "pino";
import { ServerBridge } from "../../../agent/src/substrate/container-host/network/server-bridge.ts";
import { freePort } from "../../../agent/test/helper/engine-process.ts";
import { TestPki } from "../../../agent/test/helper/pki.ts";
import { AuditdFixture } from "../../../audit/test/helper.ts";
import { openServing } from "../../src/open-serving.ts";
import { type CallLine, readCallLine } from "../../src/records/call-line.ts";

const HOST = "127.0.0.1";
const sha256Of = (pem: string) =>
  new X509Certificate(pem).fingerprint256.replaceAll(":", "").toLowerCase();

/** What of a deployment a test says itself. */
export type TestRoute = Pick<Route, "deployment" | "name" | "api" | "maxOngoingRequests"> & {
  key: string;
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
      .sort()
      .flatMap((name) => readFileSync(join(this.#callsDir, name), "utf8").split("\n"))
      .map(readCallLine)
      .filter((line) => line !== null && line.kind !== "batch");
  }

  /**
   * @param dir a short path: sockets lie there
   * @param target port of the replica that answers for every route
   */
  static async open(
    dir: string,
    target: number,
    routes: readonly TestRoute[],
  ): Promise<RunningGateway> {
    await using stack = new AsyncDisposableStack();
    const log = pino({ level: "silent" });
    const pki = await TestPki.make(join(dir, "pki"), HOST);
    const [node, gateway] = [await pki.identity("node-a"), await pki.identity("gateway")];
    const port = await freePort();
    const peers = [{ node: "gateway", certificateSha256: sha256Of(gateway.certPem) }];
    const bridge = await ServerBridge.listen({
      ...{ attempt: "a", listen: { host: HOST, port }, target: { host: HOST, port: target } },
      ...{ gateway: HOST, peers, identity: { ...node, rootCertPem: pki.rootPem }, log },
    });
    stack.defer(() => bridge.close());
    const replica = {
      ...{ member: "job-1-a1-replica", node: "node-a", host: HOST, port },
      ...{ certificateSha256: sha256Of(node.certPem), isOpen: true },
    };
    const told = routes.map(
      ({ key, ...route }, at): Route => ({
        ...{ generation: 1, state: "HOT", wakeMs: 0 },
        ...{ ...route, project: "p_1", visibility: "PRIVATE", createdAt: 1_000 * at },
        keySha256: createHash("sha256").update(key).digest("hex"),
        replicas: [replica],
      }),
    );
    mkdirSync(join(dir, "routes"), { mode: 0o750 });
    const routesSocket = join(dir, "routes", "sock");
    const coordinator = createServer((socket) => {
      socket.on("error", () => {});
      const tell = () => void socket.write(`${JSON.stringify({ routes: told })}\n`);
      tell();
      // As the real one: without a word nobody is known to answer.
      const telling = setInterval(tell, ROUTES_EVERY_MS);
      socket.once("close", () => clearInterval(telling));
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
    });
    auditd.init();
    await auditd.start();
    stack.defer(async () => void (await auditd.stop("SIGKILL")));
    const callsDir = join(dir, "calls");
    const serving = await openServing(
      {
        ...{ socket, routesSocket, logLevel: "info", auditSocket, callsDir },
        certFile: file("gateway.pem", gateway.certPem),
        keyFile: file("gateway.key", gateway.keyPem),
        rootCertFile: pki.rootFile,
      },
      log,
    );
    stack.use(serving);
    chmodSync(socket, 0o600);
    return new RunningGateway(socket, callsDir, stack.move());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack[Symbol.asyncDispose]();
  }
}
