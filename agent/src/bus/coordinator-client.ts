/** The coordinator's end of agent-protocol.ts, as calls: one request, one reply, typed refusals. */
import { type ConnectionOptions, connect, type NatsConnection, type Subscription } from "@nats-io/transport-node";
import {
  type AgentVerb,
  agentInboxPrefix,
  agentSubject,
  type BeatReply,
  type BeatRequest,
  DesiredReply,
  HintMessage,
  type MemberReport,
  type OutputCompleteReply,
  type OutputOpenReply,
  type OutputOpenRequest,
  type OutputPartsReply,
  ProtocolError,
  type PullTokenReply,
  type RegisterReply,
  type RegisterRequest,
  type ReportReply,
  type SignReply,
  type StageReply,
  type TailMessage,
} from "@resontech/contracts/agent-protocol";
import type { Fence } from "@resontech/contracts/fence";
import { type NodeEvents, NodeEventsReply } from "@resontech/contracts/node-audit";
import { Value } from "typebox/value";
import { RefusedError } from "./refused-error.ts";

const TIMEOUT_MS = 10_000;
/** A beat that is answered later than the next one is due proves little. */
const BEAT_TIMEOUT_MS = 4_000;

export type MemberRef = { member: string; fence: Fence };

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

  beat(request: Omit<BeatRequest, "nodeEpoch">): Promise<BeatReply> {
    return this.#askUnderEpoch("beat", request, BEAT_TIMEOUT_MS);
  }

  /** @throws Error when the answer is not of the agreed shape: what decides about running work is never taken on trust */
  async desired(): Promise<DesiredReply> {
    const reply = await this.#askUnderEpoch<DesiredReply>("desired", {});
    if (!Value.Check(DesiredReply, reply)) throw new Error("the desired set is not of the agreed shape");
    return reply;
  }

  report(reports: readonly MemberReport[]): Promise<ReportReply> {
    return this.#askUnderEpoch("report", { reports });
  }

  stage(member: MemberRef): Promise<StageReply> {
    return this.#askUnderEpoch("stage", member);
  }

  sign(member: MemberRef, identity: "member" | "admin", csr: string): Promise<SignReply> {
    return this.#askUnderEpoch("sign", { ...member, identity, csr });
  }

  pullToken(member: MemberRef): Promise<PullTokenReply> {
    return this.#askUnderEpoch("pull-token", member);
  }

  outputOpen(request: Omit<OutputOpenRequest, "nodeEpoch">): Promise<OutputOpenReply> {
    return this.#askUnderEpoch("output-open", request);
  }

  /** Fresh URLs for parts of an open upload, numbers from 1. */
  outputParts(member: MemberRef, upload: string, parts: readonly number[]): Promise<OutputPartsReply> {
    return this.#askUnderEpoch("output-parts", { ...member, upload, parts });
  }

  /** Safe to ask again while the object store puts the parts together: the coordinator completes an upload once. */
  outputComplete(member: MemberRef, upload: string, etags: readonly string[]): Promise<OutputCompleteReply> {
    return this.#askUnderEpoch("output-complete", { ...member, upload, etags });
  }

  /** Events that this node signed, for the audit log. @throws Error when the answer is not of the agreed shape */
  async audit(events: NodeEvents): Promise<NodeEventsReply> {
    const reply = await this.#ask<NodeEventsReply>("audit", events);
    if (!Value.Check(NodeEventsReply, reply)) throw new Error("the answer to signed events is not of the agreed shape");
    return reply;
  }

  /** Published, never answered. */
  tail(message: TailMessage): void {
    if (!this.#connection.isClosed()) this.#connection.publish(agentSubject(this.#node, "tail"), JSON.stringify(message));
  }

  /** Calls back on each hint; a hint carries nothing that must not be lost. */
  onHint(call: (hint: HintMessage) => void): Subscription {
    return this.#connection.subscribe(agentSubject(this.#node, "hint"), {
      callback: (refused, message) => {
        const hint = refused === null ? parseHint(message.string()) : null;
        if (hint !== null) call(hint);
      },
    });
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  #askUnderEpoch<T>(verb: AgentVerb, request: object, timeoutMs?: number): Promise<T> {
    // Said as the coordinator would say it: whoever asks too early waits for the registration.
    if (this.#epoch === null) return Promise.reject(new RefusedError("stale_epoch", "this node has not registered yet"));
    return this.#ask(verb, { nodeEpoch: this.#epoch, ...request }, timeoutMs);
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
      // Both ends are of one release and speak over mutual TLS; the shapes of single replies are the contract's types.
      return rest as T;
    }
    const error: unknown = "error" in reply ? reply.error : null;
    if (!Value.Check(ProtocolError, error)) throw new Error(`the refusal of ${verb} is not of the agreed shape`);
    throw new RefusedError(error.code, `${verb}: ${error.message}`);
  }
}

function parseHint(text: string): HintMessage | null {
  try {
    const hint: unknown = JSON.parse(text);
    return Value.Check(HintMessage, hint) ? hint : null;
  } catch {
    return null;
  }
}
