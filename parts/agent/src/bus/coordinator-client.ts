/** The coordinator's end of agent-protocol.ts, as calls: one request, one reply, typed refusals. */
import {
  AuthorizationError,
  type ConnectionOptions,
  connect,
  type NatsConnection,
  type Subscription,
} from "@nats-io/transport-node";
import {
  type AgentVerb,
  agentInboxPrefix,
  agentSubject,
  BeatReply,
  type BeatRequest,
  DesiredReply,
  HintMessage,
  type MemberReport,
  OutputCompleteReply,
  OutputOpenReply,
  type OutputOpenRequest,
  OutputPartsReply,
  ProtocolError,
  PullTokenReply,
  RegisterReply,
  type RegisterRequest,
  RenewReply,
  ReportReply,
  SignReply,
  StageReply,
  type TailMessage,
  TrialReply,
} from "@resontech/contracts/agent-protocol";
import type { Fence } from "@resontech/contracts/fence";
import { type NodeEvents, NodeEventsReply } from "@resontech/contracts/node-audit";
import { reader } from "@resontech/contracts/readable";
import type { Static } from "typebox";
import { RefusedError } from "./refused-error.ts";

const TIMEOUT_MS = 10_000;
/** A beat that is answered later than the next one is due proves little. */
const BEAT_TIMEOUT_MS = 4_000;

const REPLIES = {
  register: RegisterReply,
  beat: BeatReply,
  desired: DesiredReply,
  report: ReportReply,
  stage: StageReply,
  sign: SignReply,
  renew: RenewReply,
  "pull-token": PullTokenReply,
  trial: TrialReply,
  "output-open": OutputOpenReply,
  "output-parts": OutputPartsReply,
  "output-complete": OutputCompleteReply,
  audit: NodeEventsReply,
} as const satisfies Record<Exclude<AgentVerb, "tail">, unknown>;
type AskedVerb = keyof typeof REPLIES;
type Reply<V extends AskedVerb> = Static<(typeof REPLIES)[V]>;

/** The coordinator may be of another release: what it says beyond the schema is passed over. */
const readReply = Object.fromEntries(
  Object.entries(REPLIES).map(([verb, schema]) => [verb, reader(schema)]),
) as {
  [V in AskedVerb]: (value: unknown) => Reply<V> | null;
};
const readError = reader(ProtocolError);
const readHint = reader(HintMessage);

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

  /** Whether the bus lets this certificate in: not one that was revoked, or replaced by a later join. @throws while nobody answers */
  static async isAdmitted(node: string, options: ConnectionOptions): Promise<boolean> {
    try {
      const connection = await connect({ ...options, name: `agent ${node}`, reconnect: false });
      await connection.close();
      return true;
    } catch (error) {
      if (error instanceof AuthorizationError) return false;
      throw error;
    }
  }

  async register(request: RegisterRequest): Promise<RegisterReply> {
    const reply = await this.#ask("register", request);
    this.#epoch = reply.nodeEpoch;
    return reply;
  }

  beat(request: Omit<BeatRequest, "nodeEpoch">): Promise<BeatReply> {
    return this.#askUnderEpoch("beat", request, BEAT_TIMEOUT_MS);
  }

  desired(): Promise<DesiredReply> {
    return this.#askUnderEpoch("desired", {});
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

  /** The node's own next certificate. */
  renew(csr: string): Promise<RenewReply> {
    return this.#askUnderEpoch("renew", { csr });
  }

  pullToken(member: MemberRef): Promise<PullTokenReply> {
    return this.#askUnderEpoch("pull-token", member);
  }

  /** With which image a worker of this node is tried. */
  trial(worker: string): Promise<TrialReply> {
    return this.#askUnderEpoch("trial", { worker });
  }

  outputOpen(request: Omit<OutputOpenRequest, "nodeEpoch">): Promise<OutputOpenReply> {
    return this.#askUnderEpoch("output-open", request);
  }

  /** Fresh URLs for parts of an open upload, numbers from 1. */
  outputParts(
    member: MemberRef,
    upload: string,
    parts: readonly number[],
  ): Promise<OutputPartsReply> {
    return this.#askUnderEpoch("output-parts", { ...member, upload, parts });
  }

  /** Safe to ask again while the object store puts the parts together: the coordinator completes an upload once. */
  outputComplete(
    member: MemberRef,
    upload: string,
    etags: readonly string[],
  ): Promise<OutputCompleteReply> {
    return this.#askUnderEpoch("output-complete", { ...member, upload, etags });
  }

  /** Events that this node signed, for the audit log. */
  audit(events: NodeEvents): Promise<NodeEventsReply> {
    return this.#ask("audit", events);
  }

  /** Published, never answered. */
  tail(message: TailMessage): void {
    if (!this.#connection.isClosed())
      this.#connection.publish(agentSubject(this.#node, "tail"), JSON.stringify(message));
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

  #askUnderEpoch<V extends AskedVerb>(
    verb: V,
    request: object,
    timeoutMs?: number,
  ): Promise<Reply<V>> {
    // Said as the coordinator would say it: whoever asks too early waits for the registration.
    if (this.#epoch === null)
      return Promise.reject(new RefusedError("stale_epoch", "this node has not registered yet"));
    return this.#ask(verb, { nodeEpoch: this.#epoch, ...request }, timeoutMs);
  }

  /** @throws Error when the answer is not of the agreed shape: what decides about running work is never taken on trust */
  async #ask<V extends AskedVerb>(
    verb: V,
    request: unknown,
    timeoutMs = TIMEOUT_MS,
  ): Promise<Reply<V>> {
    const message = await this.#connection.request(
      agentSubject(this.#node, verb),
      JSON.stringify(request),
      {
        timeout: timeoutMs,
      },
    );
    const reply: unknown = message.json();
    if (typeof reply !== "object" || reply === null || !("ok" in reply))
      throw new Error(`the answer to ${verb} is not of the agreed shape`);
    if (reply.ok === true) {
      const read = readReply[verb](reply);
      if (read === null) throw new Error(`the answer to ${verb} is not of the agreed shape`);
      return read;
    }
    const error = readError("error" in reply ? reply.error : null);
    if (error === null) throw new Error(`the refusal of ${verb} is not of the agreed shape`);
    throw new RefusedError(error.code, `${verb}: ${error.message}`);
  }
}

function parseHint(text: string): HintMessage | null {
  try {
    return readHint(JSON.parse(text));
  } catch {
    return null;
  }
}
