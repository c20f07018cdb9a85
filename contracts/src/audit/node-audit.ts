/**
 * What an agent says in the audit log: signed with its node's key, relayed unopened by the coordinator, judged by auditd. The coordinator can keep
 * it back, which shows as a gap; it can't change, forge or reorder it.
 */
import { type Static, Type } from "typebox";
import type { EventType } from "./audit-catalogue.ts";
import { Boot, Count, Disclosure, MAX_LEAF_BYTES } from "./audit-event.ts";
import type { MemberEvent } from "../agent/agent-protocol.ts";
import { closed } from "../closed.ts";

/** Before the event's bytes in what is signed: ECDSA P-256 with SHA-256, as `r ‖ s`. */
export const NODE_EVENT_LABEL = "sov-node-event-v1\0";
/** A node's producer is `node-<id>`. */
export const nodeProducer = (node: string): string => `node-${node}`;
/** Events that travel together, and the bytes of all their parts. */
export const MAX_RELAYED_EVENTS = 64;
export const MAX_RELAYED_BYTES = 96 * 1024;

export const SignedNodeEvent = Type.Object(
  {
    /** Canonical JSON. */
    event: Type.String({ maxLength: MAX_LEAF_BYTES }),
    disclosures: Type.Array(Disclosure, { maxItems: 32 }),
    /** 64 bytes in base64. */
    signature: Type.String({ pattern: "^[A-Za-z0-9+/]{86}==$" }),
  },
  closed,
);
export type SignedNodeEvent = Static<typeof SignedNodeEvent>;

/** From the agent to the coordinator, and on to auditd as it is. */
export const NodeEvents = Type.Object(
  {
    /** PEM: the node's certificate, then the intermediate that signed it. */
    certChain: Type.String({ maxLength: 16_384 }),
    /** One life of the node's journal; its events count from 1 and on through restarts of the agent. */
    boot: Boot,
    events: Type.Array(SignedNodeEvent, { minItems: 1, maxItems: MAX_RELAYED_EVENTS }),
  },
  closed,
);
export type NodeEvents = Static<typeof NodeEvents>;

/** `settledPseq`: up to this one all of these stand in the log, or a refusal in their place; 0 for none. `refused`: why they, or one of them, were not taken. */
export const NodeEventsReply = Type.Object(
  { settledPseq: Count, refused: Type.Union([Type.String({ maxLength: 64 }), Type.Null()]) },
  closed,
);
export type NodeEventsReply = Static<typeof NodeEventsReply>;

/** Types that a node's key may sign; no other. */
export const NODE_EVENT_TYPES = [
  "job.node.image",
  "job.node.staged",
  "job.node.started",
  "job.node.ended",
  "job.node.failed",
  "job.node.released",
  "job.node.lease-lost",
  "model.node.output",
] as const satisfies EventType[];
export type NodeEventType = (typeof NODE_EVENT_TYPES)[number];

/** What each event that an agent reports leaves in the audit log. */
export const AGENT_AUDIT: Record<MemberEvent["kind"], { event: NodeEventType } | { none: string }> =
  {
    progress: { none: "status" },
    staged: { event: "job.node.staged" },
    started: { event: "job.node.started" },
    ready: { none: "status of the payload" },
    standing: { none: "status of the payload" },
    "job-started": { none: "status of the payload" },
    "round-started": { none: "status of the payload" },
    "round-ended": { none: "status of the payload" },
    checkpoint: { none: "its files are recorded as they leave the node: model.node.output" },
    metric: { none: "status of the payload" },
    warning: { none: "status of the payload" },
    finished: { none: "the container's end is recorded with its exit code: job.node.ended" },
    "outputs-uploaded": { none: "each is recorded as it leaves the node: model.node.output" },
    failed: { event: "job.node.failed" },
    released: { event: "job.node.released" },
  };
