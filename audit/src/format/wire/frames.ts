/**
 * What producers and auditd say over a unix socket: frames of `u32 length ‖ u8 kind ‖ payload`, big endian, length counting
 * kind and payload. Payloads are JSON but for `append`, which keeps the event's bytes apart so that they are judged as they came:
 * `u32 event length ‖ event ‖ disclosures (JSON array, or nothing)`.
 */

import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { NodeEvents } from "@resontech/contracts/node-audit";
import type { ProtocolVersions } from "@resontech/contracts/protocol-versions";

/** Versions of this protocol, of which a producer's hello names those that it speaks. Fields that are not known are passed over on both sides. */
export const AUDIT_WIRE = { min: 1, max: 1 } as const;

export const FRAME = {
  // producer → auditd
  hello: 1,
  append: 2,
  query: 3,
  // auditd → producer
  welcome: 65,
  acks: 66,
  refusal: 67,
  reply: 68,
  state: 69,
  goodbye: 70,
} as const;
export type FrameKind = (typeof FRAME)[keyof typeof FRAME];

/** From a producer: 16 KiB of event and its disclosures. */
export const MAX_PRODUCER_FRAME_BYTES = 262_144;
/** From auditd, whose lists of open operations may be long. */
export const MAX_AUDITD_FRAME_BYTES = 16_777_216;

export type LeafRef = { index: number; leafHash: string };
/** Entry `index` of the shard `origin`. */
export type LogPlace = { origin: string; index: number };
/** An entry of an operation. `tLog`: when auditd took it. */
export type SaidOfOperation = LeafRef &
  LogPlace & {
    op: string;
    phase: EventDraft["phase"];
    tLog: string;
    detail: Record<string, unknown>;
  };
/** Operations of one query. */
export const MAX_OPERATIONS_ASKED = 64;
/** A tree of the log that somebody outside its folder has seen; root in hex. */
export type SeenTree = { origin: string; size: number; root: string; by: "reader" | "witness" };
/** `seen`: what `audit-out` has read, and what witnesses told it. */
export type Hello = {
  v: ProtocolVersions;
  boot: string;
  firstPseq: number;
  highestAck?: LeafRef;
  seen?: SeenTree[];
};
/** `v`: the version that both speak; absent from an auditd of the first release. */
export type Welcome = { v?: number; prod: string; lastPseq: number; draining: boolean };
/** `[pseq, index, leaf hash in hex]` */
export type Acks = [pseq: number, index: number, leafHash: string][];
/** `settled`: a refusal stands in the log in the place of this event. */
export type RefusalFrame = { pseq: number; reason: string; message: string; settled: boolean };
export type Goodbye = { reason: string; message: string };
/** `relay`: what a node signed, as it came. */
export type RelayQuery = NodeEvents & { verb: "relay"; node: string };
export type Query =
  | RelayQuery
  | { verb: "open-operations" }
  /** What the log says of these operations behind an entry, in the shard that is written and the one before. */
  | { verb: "said-of"; ops: readonly string[]; after?: LogPlace }
  | { verb: "status" }
  /** `leafHash`: of the entry meant, which may stand in the shard before; without it the one that is written is asked first. */
  | { verb: "cover"; index: number; leafHash?: string }
  /** Signature lines of witnesses for the checkpoint of this size of this shard; of `audit-out` alone. */
  | { verb: "cosign"; origin: string; size: number; lines: string }
  | { verb: "witnessed"; index: number; leafHash?: string }
  /** The shard that holds this very leaf. */
  | { verb: "shard-of"; index: number; leafHash: string }
  /** The oldest segment of what opens commitments; of `vault` alone, as the next one. */
  | { verb: "disclosures" }
  /** The vault has sealed this segment durably. */
  | { verb: "sealed"; origin: string; segment: string }
  /** No legal hold stands: shards whose last entry is older may be deleted; of `vault` alone. */
  | { verb: "delete-shards"; before: string };
/** Lines `{index, field, subject, month, commitment, salt, value}`, in order of the leaves, whose last one is `lastIndex`. */
export type Spooled = { origin: string; segment: string; text: string; lastIndex: number };
/** How many of the lines were new and of a witness of the policy. */
export type CosignReply = { accepted: number };
/** Longest wait of an action for its cosignature. */
export const WITNESS_WAIT_MS = 5_000;

/**
 * `needsWitness`: false where the policy asks for none; then nothing is waited for. `mayGoOn`: what the operator chose for an action that no
 * witness has seen in time.
 */
export type Witnessed = {
  witnessed: boolean;
  needsWitness: boolean;
  mayGoOn: boolean;
  witnessedSize: number;
};
/** An operation that has no outcome yet. `overdue`: older than its type's longest open time. */
export type OpenOperation = {
  op: string;
  type: string;
  prod: string;
  index: number;
  leafHash: string;
  t: string;
  overdue: boolean;
};
export function encodeFrame(kind: FrameKind, payload: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(5 + payload.length);
  frame.writeUInt32BE(1 + payload.length, 0);
  frame[4] = kind;
  payload.copy(frame, 5);
  return frame;
}

export function encodeJsonFrame(kind: FrameKind, payload: unknown): Buffer {
  return encodeFrame(kind, Buffer.from(JSON.stringify(payload), "utf8"));
}

export function encodeAppend(event: Buffer, disclosures: readonly unknown[]): Buffer {
  const sidecar =
    disclosures.length === 0 ? Buffer.alloc(0) : Buffer.from(JSON.stringify(disclosures), "utf8");
  const payload = Buffer.allocUnsafe(4 + event.length + sidecar.length);
  payload.writeUInt32BE(event.length, 0);
  event.copy(payload, 4);
  sidecar.copy(payload, 4 + event.length);
  return encodeFrame(FRAME.append, payload);
}

/** The two parts of an `append` payload, or null when the lengths do not fit. */
export function splitAppend(payload: Buffer): { event: Buffer; disclosures: Buffer } | null {
  if (payload.length < 4) return null;
  const eventBytes = payload.readUInt32BE(0);
  if (4 + eventBytes > payload.length) return null;
  return {
    event: payload.subarray(4, 4 + eventBytes),
    disclosures: payload.subarray(4 + eventBytes),
  };
}

/** Cuts a byte stream into frames. */
export class FrameReader {
  readonly #maxFrameBytes: number;
  #rest: Buffer = Buffer.alloc(0);

  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  /**
   * The frames that are complete with this chunk.
   * @throws RangeError for a frame that is empty or longer than allowed; the connection is then of no more use
   */
  push(chunk: Buffer): { kind: number; payload: Buffer }[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: { kind: number; payload: Buffer }[] = [];
    let at = 0;
    while (bytes.length - at >= 4) {
      const length = bytes.readUInt32BE(at);
      if (length < 1 || length > this.#maxFrameBytes)
        throw new RangeError(`a frame of ${length} bytes`);
      if (bytes.length - at - 4 < length) break;
      frames.push({ kind: bytes[at + 4]!, payload: bytes.subarray(at + 5, at + 4 + length) });
      at += 4 + length;
    }
    this.#rest = bytes.subarray(at);
    return frames;
  }
}
