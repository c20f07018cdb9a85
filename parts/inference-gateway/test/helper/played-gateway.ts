/**
 * The gateway in this process, all of it: real sockets, real TLS through the real bridge of an agent, the real journal. Played are the coordinator, auditd's
 * word that it has a batch, and a replica that counts what it generates.
 */
import { createHash, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  request,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { composeEvent } from "@resontech/audit/producer";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { DeploymentNumbers, UsageRow } from "@resontech/contracts/gateway-numbers";
import type { OutboundHost } from "../../src/outbound/outbound-hosts.ts";
import type { CallerKey, Route } from "@resontech/contracts/inference-routes";
import { ServerBridge } from "@resontech/agent/server-bridge";
import { TestPki } from "@resontech/house/test-pki";
import { openGateway } from "../../src/open-serving.ts";
import { noWayOut } from "./no-way-out.ts";
import { SILENT_LOG as log } from "@resontech/house/silent-log";
import { freePort } from "@resontech/house/free-port";

const HOST = "127.0.0.1";
const certificateOf = (pem: string) =>
  new X509Certificate(pem).fingerprint256.replaceAll(":", "").toLowerCase();

export const digestOf = (key: string): string => createHash("sha256").update(key).digest("hex");

export type PlayedAnswer = {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
};

export class PlayedGateway implements AsyncDisposable {
  /** What the replica was asked and has said. */
  readonly engine = { calls: 0, promptTokens: 0, completionTokens: 0, said: "", contentType: "" };
  /** What it answers to `/predict`. */
  predicts: (answer: ServerResponse) => void = (answer) => void answer.end('{"ok":true}');
  /** Of `localhost`, for servers outside: the appliance's root vouches for it. PEM. */
  server = { cert: "", key: "" };
  /** How long it thinks. */
  thinkMs = 0;
  /** What it has put on record, without the phase. */
  readonly facts: Omit<EventDraft, "phase">[] = [];
  /** What the gateway told last. */
  numbers: DeploymentNumbers[] = [];
  readonly usage = new Map<string, UsageRow>();
  readonly #dir = mkdtempSync(join(tmpdir(), "rtp-"));
  readonly #coordinators = new Set<Socket>();
  readonly #stack = new AsyncDisposableStack();
  #gateway: AsyncDisposable | null = null;
  #identity = { certPem: "", keyPem: "" };
  #told: { routes: Route[]; keys: CallerKey[] } = { routes: [], keys: [] };

  /** @param routes of deployments, without where they answer: all at the played replica */
  static async open(
    routes: readonly Omit<Route, "replicas">[],
    keys: readonly CallerKey[] = [],
  ): Promise<PlayedGateway> {
    const played = new PlayedGateway();
    await played.#open(routes, keys);
    return played;
  }

  async #open(routes: readonly Omit<Route, "replicas">[], keys: readonly CallerKey[]) {
    this.#stack.defer(() => rmSync(this.#dir, { recursive: true, force: true }));
    const pki = await TestPki.make(join(this.#dir, "pki"), HOST);
    this.server = {
      cert: readFileSync(pki.serverCertFile, "utf8"),
      key: readFileSync(pki.serverKeyFile, "utf8"),
    };
    const node = await pki.identity("node-a");
    this.#identity = await pki.identity("gateway");
    const [inner, outer] = [await freePort(), await freePort()];
    const replica = this.#playReplica().listen(inner, HOST);
    await once(replica, "listening");
    this.#stack.defer(() => {
      replica.close();
      replica.closeAllConnections();
    });
    const certificateSha256 = certificateOf(this.#identity.certPem);
    const bridge = await ServerBridge.listen({
      ...{ attempt: "a", listen: { host: HOST, port: outer }, target: { host: HOST, port: inner } },
      ...{ gateway: HOST, peers: [{ node: "gateway", certificateSha256 }], log },
      identity: { ...node, rootCertPem: pki.rootPem },
    });
    this.#stack.defer(() => bridge.close());
    const reached = {
      ...{ member: "r-1", node: "node-a", host: HOST, port: outer, isOpen: true },
      certificateSha256: certificateOf(node.certPem),
    };
    this.#told = {
      routes: routes.map((route) => ({ ...route, replicas: [reached] })),
      keys: [...keys],
    };
    await this.#playCoordinator();
    this.#write("gateway.pem", this.#identity.certPem);
    this.#write("gateway.key", this.#identity.keyPem);
    this.#write("root.pem", pki.rootPem);
    await this.start();
    this.#stack.defer(() => this.stop());
  }

  /** From here on the administrator allows these hosts. */
  allow(hosts: readonly OutboundHost[]): void {
    this.#write("outbound.json", JSON.stringify({ formatVersion: 1, hosts }));
  }

  get callbacksDir(): string {
    return join(this.#dir, "callbacks");
  }

  get socket(): string {
    return join(this.#dir, "s.sock");
  }

  get callsDir(): string {
    return join(this.#dir, "calls");
  }

  async start(): Promise<void> {
    const file = (name: string) => join(this.#dir, name);
    this.#gateway = await openGateway(
      {
        ...{ socket: file("s.sock"), routesSocket: file("routes/sock"), logLevel: "silent" },
        ...{ certFile: file("gateway.pem"), keyFile: file("gateway.key") },
        ...{ rootCertFile: file("root.pem"), callsDir: this.callsDir },
        ...noWayOut(this.#dir),
      },
      {
        connected: true,
        fact: async (draft, disclosures) => {
          const { event } = composeEvent(
            { ...draft, phase: "fact" },
            { boot: "test", pseq: this.facts.push(draft) },
            disclosures,
          );
          return { index: this.facts.length, leafHash: event };
        },
      },
      log,
    );
    for (let tries = 0; tries < 2_000; tries++) {
      const { status } = await this.get("/v1/models", "nobody");
      if (status === 401) return;
      await sleep(10);
    }
    throw new Error("the gateway has heard of nobody");
  }

  async stop(): Promise<void> {
    await this.#gateway?.[Symbol.asyncDispose]();
    this.#gateway = null;
  }

  /** From here on the coordinator says so. */
  tell(told: { routes?: Route[]; keys?: CallerKey[] }): void {
    this.#told = { ...this.#told, ...told };
    for (const socket of this.#coordinators) socket.write(`${JSON.stringify(this.#told)}\n`);
  }

  /** Every deployment is another from here on. */
  change(change: Partial<Route>): void {
    this.tell({ routes: this.#told.routes.map((one) => ({ ...one, ...change })) });
  }

  /** Calls, and hangs up after so long. */
  async hangUp(
    path: string,
    key: string,
    headers: Record<string, string>,
    afterMs: number,
  ): Promise<void> {
    const options = this.#options("POST", path, key);
    const asked = request({ ...options, headers: { ...options.headers, ...headers } });
    asked.on("error", () => {});
    asked.end("{}");
    await sleep(afterMs);
    asked.destroy();
  }

  get(path: string, key: string): Promise<PlayedAnswer> {
    return this.#ask("GET", path, key);
  }

  post(
    path: string,
    key: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<PlayedAnswer> {
    return this.#ask("POST", path, key, JSON.stringify(body), headers);
  }

  /** A stream whose caller hangs up once it has seen so many pieces. */
  async abort(path: string, key: string, body: object, pieces: number): Promise<void> {
    const asked = request(this.#options("POST", path, key));
    asked.on("error", () => {});
    asked.end(JSON.stringify(body));
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    let seen = 0;
    for await (const _ of answer) if (++seen >= pieces) break;
    asked.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  async #ask(
    method: string,
    path: string,
    key: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<PlayedAnswer> {
    const options = this.#options(method, path, key);
    const asked = request({ ...options, headers: { ...options.headers, ...headers } });
    asked.end(body);
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    return {
      ...{ status: answer.statusCode ?? 0, headers: answer.headers },
      body: await text(answer),
    };
  }

  #options(method: string, path: string, key: string) {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    return { socketPath: this.socket, method, path, headers };
  }

  /** An answer has as many tokens as were asked for, one a piece of a stream. */
  #playReplica(): HttpServer {
    return createHttpServer((asked, answer) => void this.#answer(asked, answer));
  }

  async #answer(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const said = await text(asked).catch(() => "");
    this.engine.calls += 1;
    this.engine.said = said;
    this.engine.contentType = asked.headers["content-type"] ?? "";
    await sleep(this.thinkMs);
    answer.setHeader("content-type", "application/json");
    if (asked.url === "/predict") return this.predicts(answer);
    const {
      max_tokens: each = 1,
      stream,
      prompt,
      n = 1,
    } = JSON.parse(said) as { max_tokens?: number; stream?: boolean; prompt?: unknown; n?: number };
    const prompts = Array.isArray(prompt) ? prompt.length : 1;
    const most = each * prompts * n;
    const usage = { prompt_tokens: 5 * prompts, completion_tokens: most };
    this.engine.promptTokens += usage.prompt_tokens;
    if (stream !== true) {
      this.engine.completionTokens += most;
      return void answer.end(JSON.stringify({ choices: [], usage }));
    }
    for (let token = 0; token < most && !answer.destroyed; token++) {
      answer.write('data: {"choices":[{"delta":{"content":"x"}}]}\n\n');
      this.engine.completionTokens += 1;
      await sleep(this.thinkMs);
    }
    answer.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
  }

  async #playCoordinator(): Promise<void> {
    mkdirSync(join(this.#dir, "routes"), { mode: 0o750 });
    const server = createServer((socket) => {
      this.#coordinators.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.#coordinators.delete(socket));
      socket.write(`${JSON.stringify(this.#told)}\n`);
      createInterface(socket).on("line", (line) => this.#hear(line));
    });
    server.listen(join(this.#dir, "routes/sock"));
    await once(server, "listening");
    this.#stack.defer(() => {
      for (const socket of this.#coordinators) socket.destroy();
      server.close();
    });
  }

  #hear(line: string): void {
    const { numbers, usage } = JSON.parse(line) as {
      numbers?: DeploymentNumbers[];
      usage?: UsageRow[];
    };
    if (numbers !== undefined) this.numbers = numbers;
    for (const row of usage ?? [])
      this.usage.set(`${row.day} ${row.deployment} ${row.keySha256}`, row);
  }

  #write(name: string, content: string): void {
    writeFileSync(join(this.#dir, name), content, { mode: 0o600 });
  }
}
