/**
 * What an agent and the coordinator say to each other over NATS (request and reply, mutual TLS).
 *
 * A node may publish to `agent.<node>.>` alone and hear only `agent.<node>.hint` and its own inbox `_INBOX_<node>.>`.
 * Every request is safe to repeat. Losing, doubling or reordering any message is harmless: the desired set is fetched whole.
 * Every reply is `{ ok: true, ... }` or `{ ok: false, error: { code, message } }`; `stale_epoch` and `stale_fence` mean "stop that work".
 *
 * Agent and coordinator may be of different releases. They agree on a version when the agent registers, and each passes over fields that it does
 * not know (readable.ts). What is sent is built by the closed schema.
 *
 * Here are the verbs; what each carries stands in a file of its own beside this one.
 */
import { type Static, Type } from "typebox";
import { Text } from "./agent-fields.ts";
import { closed } from "../closed.ts";

export { RoundNumber } from "./agent-fields.ts";
export * from "./desired-member.ts";
export * from "./inventory.ts";
export * from "./member-report.ts";
export * from "./member-requests.ts";
export * from "./node-join.ts";
export * from "./node-lease.ts";
export * from "./node-renewal.ts";
export * from "./node-upgrade.ts";
export * from "./output-uploads.ts";
export * from "./told-use.ts";
export * from "./worker-trial.ts";

/**
 * 1: the first release. 2: the agent names the versions that it speaks, and passes over fields that it does not know. An agent of 1 is sent what
 * version 1 has, and nothing more. 3: the agent tries its workers, and asks with which image. 4: replicas are put to sleep and woken, and it is told how
 * they stand. 5: it runs programs that know nothing of us (container-spec.ts). 6: it renews its certificate over the bus (node-renewal.ts). 7: a member
 * that is to stop may be asked to commit first (`stopAfter`). 8: a member may hold several workers. 9: a member's processes may have a range of ports of
 * their own, and the runner of distributed trainings is there.
 */
export const AGENT_PROTOCOL = { min: 1, max: 9 } as const;

/** From this version on the coordinator says which image a worker is tried with. */
export const TRIAL_SINCE = 3;
/** From this version on members that are replicas have a {@link ReplicaSpec}, and tell how they stand. */
export const STANDING_SINCE = 4;
/** Agents of version 1 refuse fields that they do not know; a later one that is older than the field passes it over. */
export const PRINTED_METRICS_SINCE = 2;
/** The same of what a node may keep of inputs: an agent that does not know the field keeps nothing. */
export const INPUT_CACHE_SINCE = 2;
/** From this version on an agent's PID 1 attends to programs that know nothing of us. */
export const ATTEND_SINCE = 5;
/** From this version on the coordinator signs a node's next certificate. */
export const RENEW_SINCE = 6;
/** From this version on a member may be told to stop after its commit; an older agent would pass that over, and stop it at once. */
export const COMMIT_SINCE = 7;
/** From this version on a member may hold several workers of its node: one container, and each of their devices is claimed and proven free. */
export const SEVERAL_WORKERS_SINCE = 8;
/** From this version on a member of a hub's network may be given a range of ports, and ranks of a training find one another by it. */
export const OWN_PORTS_SINCE = 9;

/** The verbs, each a subject `agent.<node>.<verb>`. */
export const AGENT_VERBS = [
  "register",
  "beat",
  "desired",
  "report",
  "stage",
  "sign",
  "renew",
  "pull-token",
  "trial",
  "output-open",
  "output-parts",
  "output-complete",
  "audit",
  "tail",
] as const;
export type AgentVerb = (typeof AGENT_VERBS)[number];

export const agentSubject = (node: string, verb: AgentVerb | "hint"): string =>
  `agent.${node}.${verb}`;
export const agentInboxPrefix = (node: string): string => `_INBOX_${node}`;

export const ProtocolError = Type.Object(
  { code: Type.String({ maxLength: 64 }), message: Text },
  closed,
);

/** Coordinator → agent: `desired`, something changed, fetch it now; `beat`, a longer lease is to be had. */
export const HintMessage = Type.Object(
  { about: Type.Union([Type.Literal("desired"), Type.Literal("beat")]) },
  closed,
);
export type HintMessage = Static<typeof HintMessage>;
