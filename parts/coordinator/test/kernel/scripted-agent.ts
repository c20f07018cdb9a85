import { createHash, randomUUID, X509Certificate } from "node:crypto";
import { request as httpsRequest } from "node:https";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import {
  AGENT_PROTOCOL,
  agentInboxPrefix,
  agentSubject,
  type AgentVerb,
  type BridgeAddress,
  type BeatReply,
  type BeatRequest,
  type DesiredMember,
  type DeviceUse,
  type DesiredReply,
  type Inventory,
  type JoinReply,
  type MemberEvent,
  type OutputCompleteReply,
  type OutputOpenReply,
  type OutputOpenRequest,
  type RegisterReply,
  type ReportReply,
  type StageReply,
  type TailMessage,
} from "@resontech/contracts/agent-protocol";
import type { Fence } from "@resontech/contracts/fence";
import { type ProtocolVersions, versionsOf } from "@resontech/contracts/protocol-versions";
import type { JoinTokens } from "../../src/nodes/join-tokens.ts";
import { makeSigningRequest } from "../nodes/node-certificates.ts";

const BEAT_MS = 5_000;
/** A busy machine takes seconds for what a kernel does at once. */
const MEMBERS_MS = 120_000;

/** A refusal as the protocol has it. */
export class Refused extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

/** The agent's end of the protocol, driven step by step by a test. */
export class ScriptedAgent {
  readonly node: string;
  readonly #identity: JoinReply & { keyPem: string };
  readonly #url: string;
  connection!: NatsConnection;
  epoch: Fence = { generation: 1, counter: 0 };
  hints = 0;
  /** As its registrations say. */
  protocol: ProtocolVersions = versionsOf(AGENT_PROTOCOL);
  /** What it says that it runs; absent: nothing. */
  release: string | undefined;
  /** What all its beats say of members, node and devices. */
  uses: Pick<BeatRequest, "members" | "node" | "devices"> = {};
  readonly #bootId = "boot-1";
  readonly #seqs = new Map<string, number>();
  #beats: NodeJS.Timeout | undefined;

  private constructor(node: string, identity: JoinReply & { keyPem: string }, url: string) {
    this.node = node;
    this.#identity = identity;
    this.#url = url;
  }

  static async join(
    node: string,
    token: string,
    tokens: Pick<JoinTokens, "join">,
    url: string,
  ): Promise<ScriptedAgent> {
    const { csrPem, keyPem } = await makeSigningRequest("whatever it says");
    const reply = await tokens.join({ token, csr: csrPem }, "127.0.0.1");
    const agent = new ScriptedAgent(node, { ...reply, keyPem }, url);
    await agent.connect();
    return agent;
  }

  async connect(): Promise<void> {
    const { rootCert, certChain, keyPem } = this.#identity;
    this.connection = await connect({
      servers: this.#url,
      tls: { ca: rootCert, cert: certChain, key: keyPem },
      inboxPrefix: agentInboxPrefix(this.node),
      maxReconnectAttempts: -1,
      ignoreAuthErrorAbort: true,
    });
    this.connection.subscribe(agentSubject(this.node, "hint"), {
      callback: () => void (this.hints += 1),
    });
  }

  close(): Promise<void> {
    clearInterval(this.#beats);
    return this.connection.close();
  }

  /** Until it is closed, naming whatever the node shall hold: on a busy machine a test takes longer than a silent node is believed. */
  keepBeating(): void {
    const hold = async (): Promise<void> => {
      const members = await this.desired();
      await this.beat(members.map(({ member, fence }) => ({ member, fence })));
    };
    this.#beats = setInterval(() => void hold().catch(() => {}), BEAT_MS);
  }

  /** @throws Refused */
  async call<T extends object>(verb: AgentVerb, request: object): Promise<T> {
    const message = await this.connection.request(
      agentSubject(this.node, verb),
      JSON.stringify(request),
      { timeout: 60_000 },
    );
    const reply = message.json<
      { ok: true } | { ok: false; error: { code: string; message: string } }
    >();
    if (!reply.ok) throw new Refused(reply.error.code, reply.error.message);
    const { ok: _ok, ...rest } = reply;
    return rest as T;
  }

  /** PEM: its certificate with the intermediate, and its key. */
  get identity(): { certChain: string; keyPem: string } {
    return this.#identity;
  }

  get certificateSha256(): string {
    return new X509Certificate(this.#identity.certChain).fingerprint256
      .replaceAll(":", "")
      .toLowerCase();
  }

  async register(
    workers: number,
    held: { member: string; fence: Fence }[] = [],
    bridge?: BridgeAddress,
  ): Promise<RegisterReply> {
    const reply = await this.call<RegisterReply>("register", {
      protocol: this.protocol,
      bootId: this.#bootId,
      agentVersion: "0.1.0",
      inventory: this.inventory(workers),
      ...(bridge === undefined ? {} : { bridge }),
      ...(this.release === undefined ? {} : { release: this.release }),
      held,
    });
    this.epoch = reply.nodeEpoch;
    return reply;
  }

  inventory(workers: number): Inventory {
    return {
      ...{
        hostname: this.node,
        os: "Debian 12",
        kernel: "6.18",
        cpuModel: "test",
        cpuCores: 2,
        memoryBytes: 8e9,
      },
      ...{ diskFreeBytes: 1e11, containerEngine: "podman 4.3" },
      workers: Array.from({ length: workers }, (_, n) => ({
        ...{
          id: `${this.node}-${n}`,
          kind: "cpu" as const,
          model: "cpu",
          memoryBytes: 4e9,
          healthy: true,
        },
      })),
    };
  }

  beat(held: { member: string; fence: Fence }[], devices: DeviceUse[] = []): Promise<BeatReply> {
    return this.call<BeatReply>("beat", {
      ...{ nodeEpoch: this.epoch, nonce: randomUUID(), leaseOf: null, bootId: this.#bootId, held },
      ...(devices.length === 0 ? {} : { devices }),
      ...{ inventoryDigest: "0".repeat(64), loopLagMs: 1, diskFreeBytes: 1e11 },
      ...this.uses,
    });
  }

  async desired(): Promise<DesiredMember[]> {
    return (await this.call<DesiredReply>("desired", { nodeEpoch: this.epoch })).members;
  }

  /** Fetches until there are so many members. */
  async desiredOf(job: string, count: number): Promise<DesiredMember[]> {
    for (const end = Date.now() + MEMBERS_MS; Date.now() < end; ) {
      const mine = (await this.desired()).filter((member) => member.job === job);
      if (mine.length === count) return mine;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`no ${count} members of ${job}`);
  }

  async report(
    member: { member: string; fence: Fence },
    ...events: MemberEvent[]
  ): Promise<ReportReply["results"]> {
    const key = `${member.member} ${member.fence.generation}.${member.fence.counter}`;
    const first = (this.#seqs.get(key) ?? 0) + 1;
    const reply = await this.reportAt(member, first, ...events);
    this.#seqs.set(key, first + events.length - 1);
    return reply.results;
  }

  reportAt(
    { member, fence }: { member: string; fence: Fence },
    firstSeq: number,
    ...events: MemberEvent[]
  ): Promise<ReportReply> {
    const at = new Date().toISOString();
    const reports = events.map((event, n) => ({ member, fence, seq: firstSeq + n, at, event }));
    return this.call<ReportReply>("report", { nodeEpoch: this.epoch, reports });
  }

  /** Asks for an answer, which real agents do not, so that a test knows when it was taken. */
  async tail(tail: TailMessage): Promise<void> {
    await this.call("tail", tail);
  }

  stage({ member, fence }: DesiredMember): Promise<StageReply> {
    return this.call<StageReply>("stage", { nodeEpoch: this.epoch, member, fence });
  }

  /** Opens, puts and completes one output. */
  async upload(
    member: DesiredMember,
    key: string,
    content: string,
    area?: OutputOpenRequest["area"],
  ): Promise<OutputCompleteReply & { upload: string }> {
    const opened = await this.openUpload(member, key, content, area);
    const etag = await putPart(opened.urls[0]!, content);
    return { upload: opened.upload, ...(await this.completeUpload(member, opened.upload, [etag])) };
  }

  openUpload(
    { member, fence }: DesiredMember,
    key: string,
    content: string,
    area?: OutputOpenRequest["area"],
  ): Promise<OutputOpenReply> {
    const sha256 = createHash("sha256").update(content).digest("hex");
    const sizeBytes = Buffer.byteLength(content);
    return this.call("output-open", {
      nodeEpoch: this.epoch,
      member,
      fence,
      key,
      sizeBytes,
      sha256,
      ...(area === undefined ? {} : { area }),
    });
  }

  completeUpload(
    { member, fence }: DesiredMember,
    upload: string,
    etags: string[],
  ): Promise<OutputCompleteReply> {
    return this.call("output-complete", { nodeEpoch: this.epoch, member, fence, upload, etags });
  }

  /** Staged, started, ready: what every member tells on its way to the run. */
  async bringUp(members: readonly DesiredMember[]): Promise<void> {
    for (const member of members)
      await this.report(
        member,
        { kind: "progress", step: "inputs", done: 10, total: 10 },
        { kind: "staged", bytes: 10 },
        { kind: "started", container: `c-${member.member}` },
        { kind: "ready" },
      );
  }
}

export const CLEAN = {
  kind: "released",
  processesGone: true,
  diskGone: true,
  devicesAtBaseline: true,
} as const;

/** PUTs one part as an agent does; answers with its ETag. @throws Refused with S3's status */
export function putPart(url: string, content: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // The engine's CA is another than the bus's; the agent's own TLS is not what these tests are about.
  const sent = httpsRequest(url, { method: "PUT", rejectUnauthorized: false }, (answer) => {
    answer.resume();
    answer.on("end", () => {
      if (answer.statusCode === 200) resolve(String(answer.headers.etag));
      else reject(new Refused(String(answer.statusCode), "part refused"));
    });
  });
  sent.on("error", reject);
  sent.end(content);
  return promise;
}
