import { spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EmbeddingsSpec } from "@resontech/contracts/embeddings-spec";
import type { LlamaSpec } from "@resontech/contracts/llama-spec";
import { embeddingsPython } from "@resontech/house/embeddings-python";
import { llamaPython } from "@resontech/house/llama-python";
import type { PredictorSpec } from "@resontech/contracts/predictor-spec";
import { pino } from "pino";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { ServerBridge } from "@resontech/agent/server-bridge";
import { TestPki } from "@resontech/house/test-pki";
import type { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import { ECHO_SCRIPT } from "@resontech/coordinator/testing/workspace";
import type { ScriptedAgent } from "@resontech/coordinator/testing/scripted-agent";
import { openServing } from "../../src/open-serving.ts";
import { startEmbeddings } from "./embeddings-replica.ts";
import { startLlama } from "./llama-replica.ts";
import { noWayOut } from "./no-way-out.ts";
import { freePort, freePorts } from "@resontech/house/free-port";
import { untilFound } from "@resontech/house/until-found";

const HOST = "127.0.0.1";
const RUNNERS = join(import.meta.dirname, "..", "..", "..", "agent", "runners");
const PORTS = 20;

/**
 * The real gateway behind the front door of a running coordinator, which tells it the real routes; and real replicas behind the real bridges of a
 * node whose agent a test drives.
 */
export class TestGateway implements AsyncDisposable {
  /** By which the coordinator has agents let it in. */
  readonly certificateSha256: string;
  readonly #pki: TestPki;
  readonly #identity: { certPem: string; keyPem: string };
  readonly #dir: string;
  readonly #cleanup: AsyncDisposableStack;

  private constructor(
    dir: string,
    pki: TestPki,
    identity: { certPem: string; keyPem: string },
    cleanup: AsyncDisposableStack,
  ) {
    this.#dir = dir;
    this.#pki = pki;
    this.#identity = identity;
    this.#cleanup = cleanup;
    this.certificateSha256 = new X509Certificate(identity.certPem).fingerprint256
      .replaceAll(":", "")
      .toLowerCase();
  }

  static async make(): Promise<TestGateway> {
    const stack = new AsyncDisposableStack();
    const dir = mkdtempSync(join(tmpdir(), "rtg-"));
    stack.defer(() => rmSync(dir, { recursive: true, force: true }));
    const pki = await TestPki.make(join(dir, "pki"), HOST);
    return new TestGateway(dir, pki, await pki.identity("serving"), stack);
  }

  /** @param running one that was made with this gateway's certificate */
  async open(running: RunningCoordinator): Promise<void> {
    const file = (name: string, text: string): string => {
      writeFileSync(join(this.#dir, name), text, { mode: 0o600 });
      return join(this.#dir, name);
    };
    const { inference, ca } = running.config;
    if (inference === undefined) throw new Error("the coordinator knows no gateway");
    const auditSocket = join(this.#dir, "audit", "run", "serving.sock");
    const auditd = new AuditdFixture(join(this.#dir, "audit"), {
      producers: [{ name: "serving", family: "serving", socket: auditSocket, gid: null }],
    });
    await auditd.makeLog();
    await auditd.start();
    this.#cleanup.defer(async () => void (await auditd.stop("SIGKILL")));
    const serving = await openServing(
      {
        ...{ socket: running.servingSocket, routesSocket: inference.routesSocket },
        ...{ auditSocket, callsDir: join(this.#dir, "calls") },
        certFile: file("gateway.pem", this.#identity.certPem),
        keyFile: file("gateway.key", this.#identity.keyPem),
        ...{ rootCertFile: ca.rootCertFile, logLevel: "silent" },
        ...noWayOut(this.#dir),
      },
      pino({ level: "silent" }),
    );
    this.#cleanup.use(serving);
  }

  /** The node can be reached, and has so many workers. */
  async register(agent: ScriptedAgent, workers: number): Promise<void> {
    const ports = await freePorts(PORTS);
    await agent.register(workers, [], {
      ...{ address: HOST, ports },
    });
  }

  /** Has the node run the deployment's replica, until it answers. Its script is {@link ECHO_SCRIPT}. */
  async answer(agent: ScriptedAgent, deployment: string): Promise<void> {
    await this.#bringUp(agent, deployment, (spec, port) => this.#startReplica(spec, port));
  }

  /** The same of a deployment with llama.cpp, whatever weights it named: the smallest real chat model answers. */
  async answerChat(agent: ScriptedAgent, deployment: string): Promise<void> {
    const { python, weights } = await llamaPython();
    await this.#bringUp(agent, deployment, async (spec, port) => {
      const said = { ...(JSON.parse(spec) as LlamaSpec), modelPath: weights, port };
      const replica = startLlama(python, mkdtempSync(join(this.#dir, "replica-")), said);
      this.#cleanup.use(replica);
      await replica.ready();
    });
  }

  /** The same of a deployment that embeds texts: a small real model answers. */
  async answerEmbeddings(agent: ScriptedAgent, deployment: string): Promise<void> {
    const { python, model } = await embeddingsPython();
    await this.#bringUp(agent, deployment, async (spec, port) => {
      const { name } = JSON.parse(spec) as EmbeddingsSpec;
      const root = mkdtempSync(join(this.#dir, "replica-"));
      const replica = startEmbeddings(python, root, { name, folder: model, port });
      this.#cleanup.defer(() => replica.end());
      await untilFound("a replica that embeds", () =>
        replica.told().some(({ kind }) => kind === "ready"),
      );
    });
  }

  async #bringUp(
    agent: ScriptedAgent,
    deployment: string,
    start: (spec: string, port: number) => Promise<void>,
  ): Promise<void> {
    const [member] = await agent.desiredOf(deployment, 1);
    if (member?.bridge?.kind !== "listen") throw new Error("nobody is to reach the member");
    const inner = await freePort(HOST);
    await start(member.payload.files[0]?.text ?? "", inner);
    const bridge = await ServerBridge.listen({
      ...{ attempt: member.attempt, listen: { host: HOST, port: member.bridge.port } },
      ...{ target: { host: HOST, port: inner }, gateway: HOST, peers: member.bridge.peers },
      identity: {
        ...{ certPem: agent.identity.certChain, keyPem: agent.identity.keyPem },
        rootCertPem: this.#pki.rootPem,
      },
      log: pino({ level: "silent" }),
    });
    this.#cleanup.defer(() => bridge.close());
    await agent.bringUp([member]);
  }

  async #startReplica(spec: string, port: number): Promise<void> {
    const root = mkdtempSync(join(this.#dir, "replica-"));
    for (const folder of ["rt/job/scripts", "rt/events"])
      mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, "rt/job/scripts/echo_serve.py"), ECHO_SCRIPT);
    const own: PredictorSpec = { ...(JSON.parse(spec) as PredictorSpec), port };
    writeFileSync(join(root, "rt/job/predictor.json"), JSON.stringify(own));
    const program = `import sys, pathlib; sys.path.insert(0, ${JSON.stringify(RUNNERS)})
from resontech_predictor.main import main
sys.exit(main(pathlib.Path(${JSON.stringify(root)})))`;
    const replica = spawn("python3", ["-u", "-c", program], { stdio: "ignore" });
    this.#cleanup.defer(() => void replica.kill("SIGKILL"));
    for (let tries = 0; tries < 3_000 && !(await isHealthy(port)); tries++) await sleep(50);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup.disposeAsync();
  }
}

async function isHealthy(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const asked = get({ host: HOST, port, path: "/health" }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.on("error", () => resolve(false));
  });
}
