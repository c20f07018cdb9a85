/** The coordinator's end of agent-protocol.ts, as calls: one request, one reply, typed errors. */
import type { ConnectionOptions, NatsConnection, Subscription } from "@nats-io/transport-node";
import { connect } from "@nats-io/transport-node";
import {
  type AgentVerb,
  agentInboxPrefix,
  agentSubject,
  type BeatReply,
  type BeatRequest,
  DesiredReply,
  type OutputCompleteReply,
  type OutputOpenReply,
  type OutputOpenRequest,
  type PullTokenReply,
  type RegisterReply,
  type RegisterRequest,
  type ReportReply,
  type MemberReport,
  type SignReply,
  type StageReply,
  type TailMessage,
} from "@resontech/contracts/agent-protocol";
import type { Fence } from "@resontech/contracts/fence";
import { Value } from "typebox/value";

/** The coordinator refused; `stale_epoch` and `stale_fence` mean: stop that work. */
export class RefusedError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const TIMEOUT_MS = 10_000;
/** Outputs complete only after the object store has put the parts together. */
const COMPLETE_TIMEOUT_MS = 120_000;

type MemberRef = { member: string; fence: Fence };

export class CoordinatorClient {
  readonly #connection: NatsConnection;
  readonly #node: string;
  #epoch: Fence | null = null;

  private constructor(connection: NatsConnection, node: string) {
    this.#connection = connection;
    this.#node = node;
  }

  /** Connects with the node's certificate and keeps trying for ever: while the coordinator is away nobody new is let in. */
  static async connect(node: string, options: ConnectionOptions): Promise<CoordinatorClient> {
    const connection = await connect({
      ...options,
      name: `agent ${node}`,
      inboxPrefix: agentInboxPrefix(node),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 500,
      ignoreAuthErrorAbort: true,
      waitOnFirstConnect: true,
    });
    return new CoordinatorClient(connection, node);
  }

  async register(request: RegisterRequest): Promise<RegisterReply> {
    const reply = await this.#ask<RegisterReply>("register", request);
    this.#epoch = reply.nodeEpoch;
    return reply;
  }

  async beat(request: Omit<BeatRequest, "nodeEpoch">): Promise<BeatReply> {
    return await this.#ask("beat", { nodeEpoch: this.#requireEpoch(), ...request }, 4_000);
  }

  async desired(): Promise<DesiredReply> {
    const reply = await this.#ask<DesiredReply>("desired", { nodeEpoch: this.#requireEpoch() });
    const set = { version: reply.version, members: reply.members };
    if (!Value.Check(DesiredReply, set)) throw new Error("the desired set is not of the agreed shape");
    return set;
  }

  async report(reports: MemberReport[]): Promise<ReportReply> {
    return await this.#ask("report", { nodeEpoch: this.#requireEpoch(), reports });
  }

  async stage(member: MemberRef): Promise<StageReply> {
    return await this.#ask("stage", { nodeEpoch: this.#requireEpoch(), ...member });
  }

  async sign(member: MemberRef, identity: "member" | "admin", csr: string): Promise<SignReply> {
    return await this.#ask("sign", { nodeEpoch: this.#requireEpoch(), ...member, identity, csr });
  }

  async pullToken(member: MemberRef): Promise<PullTokenReply> {
    return await this.#ask("pull-token", { nodeEpoch: this.#requireEpoch(), ...member });
  }

  async outputOpen(request: Omit<OutputOpenRequest, "nodeEpoch">): Promise<OutputOpenReply> {
    return await this.#ask("output-open", { nodeEpoch: this.#requireEpoch(), ...request });
  }

  async outputComplete(member: MemberRef, upload: string, etags: string[]): Promise<OutputCompleteReply> {
    return await this.#ask("output-complete", { nodeEpoch: this.#requireEpoch(), ...member, upload, etags }, COMPLETE_TIMEOUT_MS);
  }

  tail(message: TailMessage): void {
    this.#connection.publish(agentSubject(this.#node, "tail"), JSON.stringify(message));
  }

  /** Calls back on each hint; a hint carries nothing that must not be lost. */
  onHint(call: () => void): Subscription {
    return this.#connection.subscribe(agentSubject(this.#node, "hint"), { callback: () => call() });
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  #requireEpoch(): Fence {
    if (this.#epoch === null) throw new Error("this node has not registered yet");
    return this.#epoch;
  }

  async #ask<T>(verb: AgentVerb, request: unknown, timeoutMs = TIMEOUT_MS): Promise<T> {
    const message = await this.#connection.request(agentSubject(this.#node, verb), JSON.stringify(request), {
      timeout: timeoutMs,
    });
    const reply: unknown = message.json();
    if (typeof reply !== "object" || reply === null || !("ok" in reply))
      throw new Error(`the answer to ${verb} is not of the agreed shape`);
    if (reply.ok === true) {
      const { ok: _, ...rest } = reply;
      // Shapes of single replies are the coordinator's types; what decides about running work (desired) is checked above.
      return rest as T;
    }
    const error: unknown = "error" in reply ? reply.error : null;
    const [code, text] =
      typeof error === "object" && error !== null && "code" in error && "message" in error
        ? [String(error.code), String(error.message)]
        : ["unknown", "no reason given"];
    throw new RefusedError(code, `${verb}: ${text}`);
  }
}
