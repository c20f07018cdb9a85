/**
 * The coordinator's end of the agent protocol: one subscription, one handler a verb. A message is judged before anything is done
 * with it: subject, size, schema, then node, epoch and fence by the handler. Answers go to the asking node's own inbox and nowhere
 * else, whatever reply subject the message names.
 */
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import {
  AGENT_VERBS,
  agentInboxPrefix,
  type AgentVerb,
  BeatRequest,
  DesiredRequest,
  OutputCompleteRequest,
  OutputOpenRequest,
  OutputPartsRequest,
  PullTokenRequest,
  RegisterRequest,
  RenewRequest,
  ReportRequest,
  SignRequest,
  StageRequest,
  TailMessage,
  TrialRequest,
} from "@resontech/contracts/agent-protocol";
import { AuditUnavailable } from "@resontech/audit/producer";
import type { Static } from "typebox";
import { NodeEvents } from "@resontech/contracts/node-audit";
import { reader } from "@resontech/contracts/readable";
import { ApiError } from "../api-error.ts";
import type { NodeCaller } from "../authorization/caller.ts";
import { decide } from "../authorization/decide.ts";
import { DatabaseUnavailable } from "../db/database-unavailable.ts";
import { AgentRefusal, type AgentRefusalCode } from "../kernel/agent-refusal.ts";
import { S3ResponseError, S3UnavailableError } from "../storage/s3-transport.ts";

const SCHEMAS = {
  register: RegisterRequest,
  beat: BeatRequest,
  desired: DesiredRequest,
  report: ReportRequest,
  stage: StageRequest,
  sign: SignRequest,
  renew: RenewRequest,
  "pull-token": PullTokenRequest,
  trial: TrialRequest,
  "output-open": OutputOpenRequest,
  "output-parts": OutputPartsRequest,
  "output-complete": OutputCompleteRequest,
  audit: NodeEvents,
  tail: TailMessage,
} as const satisfies Record<AgentVerb, unknown>;

export type AgentHandlers = {
  [V in AgentVerb]: (
    caller: NodeCaller,
    request: Static<(typeof SCHEMAS)[V]>,
  ) => object | Promise<object>;
};

/** Agents of other releases say more than is known here; that is passed over. */
const READERS = new Map<AgentVerb, (value: unknown) => unknown>(
  AGENT_VERBS.map((verb) => [verb, reader(SCHEMAS[verb])]),
);

const MAX_REQUEST_BYTES = 8 * 1024 ** 2;
/** Requests of one node that may be under way in each lane; more are told to wait. */
const MAX_IN_FLIGHT = 64;
/** These wait for the object store, its disk or the audit log, if need be for minutes. They have a lane of their own: beats wait for nobody. */
const WAITS: ReadonlySet<AgentVerb> = new Set([
  "stage",
  "sign",
  "renew",
  "output-open",
  "output-parts",
  "output-complete",
  "audit",
]);

type Answer =
  | ({ ok: true } & object)
  | { ok: false; error: { code: AgentRefusalCode; message: string } };

export type AgentRequestsOptions = {
  connection: NatsConnection;
  handlers: AgentHandlers;
  /** A bug or a broken part; refusals are answers, not errors. */
  onError: (error: unknown, node: string, verb: string) => void;
};

export class AgentRequests implements AsyncDisposable {
  readonly #options: AgentRequestsOptions;
  readonly #inFlight = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();
  readonly #subscription;

  constructor(options: AgentRequestsOptions) {
    this.#options = options;
    this.#subscription = options.connection.subscribe("agent.*.*", {
      callback: (refused, message) => {
        if (refused !== null) return options.onError(refused, "", "");
        const running = this.#receive(message)
          .catch((error: unknown) => options.onError(error, "", message.subject))
          .finally(() => this.#running.delete(running));
        this.#running.add(running);
      },
    });
  }

  /** Takes nothing new and waits for what is under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription.unsubscribe();
    await Promise.all(this.#running);
  }

  async #receive(message: Msg): Promise<void> {
    const [, node = "", verb = ""] = message.subject.split(".");
    // The coordinator's own hints pass by here too.
    if (!isVerb(verb)) return;
    const answer = await this.#answer(node, verb, message);
    if (message.reply?.startsWith(`${agentInboxPrefix(node)}.`) === true)
      message.respond(JSON.stringify(answer));
  }

  async #answer(node: string, verb: AgentVerb, message: Msg): Promise<Answer> {
    const lane = `${node} ${WAITS.has(verb) ? "waits" : "at once"}`;
    const underWay = this.#inFlight.get(lane) ?? 0;
    if (underWay >= MAX_IN_FLIGHT)
      return refusal("too_many_requests", `${MAX_IN_FLIGHT} requests are under way`);
    this.#inFlight.set(lane, underWay + 1);
    try {
      const request = readRequest(verb, message);
      // The bus let nobody but this node publish to its subject.
      const caller: NodeCaller = { kind: "node", node, by: "certificate" };
      const verdict = decide(caller, `agent.${verb}`, { node });
      if (verdict.effect === "deny") throw new AgentRefusal("not_allowed", verdict.message);
      const handle = this.#options.handlers[verb] as (
        caller: NodeCaller,
        request: unknown,
      ) => object | Promise<object>;
      return { ok: true, ...(await handle(caller, request)) };
    } catch (error) {
      return this.#refusalOf(error, node, verb);
    } finally {
      const left = this.#inFlight.get(lane)! - 1;
      if (left === 0) this.#inFlight.delete(lane);
      else this.#inFlight.set(lane, left);
    }
  }

  #refusalOf(error: unknown, node: string, verb: AgentVerb): Answer {
    if (error instanceof AgentRefusal) return refusal(error.code, error.message);
    if (error instanceof AuditUnavailable)
      return refusal("audit_unavailable", "the audit log did not acknowledge");
    if (error instanceof DatabaseUnavailable) return refusal("database_unavailable", error.message);
    if (
      error instanceof S3UnavailableError ||
      (error instanceof S3ResponseError && error.status === 503)
    )
      return refusal("storage_unavailable", "the object store did not answer");
    if (error instanceof ApiError) return refusal("invalid_request", error.message);
    this.#options.onError(error, node, verb);
    return refusal("internal_error", "the request failed; the coordinator's log says why");
  }
}

function isVerb(verb: string): verb is AgentVerb {
  return (AGENT_VERBS as readonly string[]).includes(verb);
}

function refusal(code: AgentRefusalCode, message: string): Answer {
  return { ok: false, error: { code, message } };
}

function readRequest(verb: AgentVerb, message: Msg): unknown {
  if (message.data.length > MAX_REQUEST_BYTES)
    throw new AgentRefusal("invalid_request", "the request is too large");
  let value: unknown;
  try {
    value = JSON.parse(message.string());
  } catch {
    throw new AgentRefusal("invalid_request", "the request is not JSON");
  }
  const request = READERS.get(verb)?.(value) ?? null;
  if (request === null)
    throw new AgentRefusal("invalid_request", `the request does not match the schema of ${verb}`);
  return request;
}
