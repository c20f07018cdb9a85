import type { Socket } from "node:net";
import type { LogStatus } from "@resontech/contracts/audit-control";
import { Boot, Instant, Sha256Hex } from "@resontech/contracts/audit-event";
import { NodeEvents, type NodeEventsReply } from "@resontech/contracts/node-audit";
import {
  agreedVersion,
  PROTOCOL_UNSUPPORTED,
  ProtocolVersions,
  refusalText,
} from "@resontech/contracts/protocol-versions";
import { reader } from "@resontech/contracts/readable";
import { type Static, Type } from "typebox";
import { MAX_NOTE_BYTES } from "@resontech/audit/format/note/signed-note";
import {
  type Acks,
  AUDIT_WIRE,
  type CosignReply,
  encodeJsonFrame,
  FRAME,
  type FrameKind,
  type LeafRef,
  type LogPlace,
  MAX_OPERATIONS_ASKED,
  type RefusalFrame,
  type SaidOfOperation,
  type SeenTree,
  splitAppend,
  type Spooled,
  type Welcome,
  type Witnessed,
} from "@resontech/audit/format/wire/frames";
import type { Acknowledged } from "../decisions/ledger.ts";
import type { AuditLog } from "../commit/audit-log.ts";

/** The producer that reads the log for others: it knows what exporters and witnesses have seen. */
export const AUDIT_OUT = "audit-out";
/** The producer that takes over what opens commitments. */
const VAULT = "vault";
/** More than this unanswered and the socket is not read: the kernel then holds the producer back. */
const MAX_UNANSWERED = 4_096;
/** Nor while so much waits to be read by it. */
const MAX_UNREAD_BYTES = 1_048_576;

const closed = { additionalProperties: false } as const;
const SafeCount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** One past it is a size. */
const EntryIndex = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER - 1 });
const HelloSchema = Type.Object(
  {
    v: ProtocolVersions,
    boot: Boot,
    firstPseq: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    highestAck: Type.Optional(Type.Object({ index: EntryIndex, leafHash: Sha256Hex }, closed)),
    seen: Type.Optional(
      Type.Array(
        Type.Object(
          {
            origin: Type.String({ maxLength: 255 }),
            size: SafeCount,
            root: Sha256Hex,
            by: Type.Enum(["reader", "witness"]),
          },
          closed,
        ),
        { maxItems: 64 },
      ),
    ),
  },
  closed,
);
const Awaited = { index: SafeCount, leafHash: Type.Optional(Sha256Hex) };
const QuerySchema = Type.Union([
  Type.Object(
    {
      id: SafeCount,
      verb: Type.Literal("relay"),
      node: Type.String({ maxLength: 64 }),
      ...NodeEvents.properties,
    },
    closed,
  ),
  Type.Object({ id: SafeCount, verb: Type.Literal("open-operations") }, closed),
  Type.Object(
    {
      id: SafeCount,
      verb: Type.Literal("said-of"),
      ops: Type.Array(Type.String({ maxLength: 64 }), { maxItems: MAX_OPERATIONS_ASKED }),
      after: Type.Optional(
        Type.Object({ origin: Type.String({ maxLength: 255 }), index: EntryIndex }, closed),
      ),
    },
    closed,
  ),
  Type.Object({ id: SafeCount, verb: Type.Literal("status") }, closed),
  Type.Object({ id: SafeCount, verb: Type.Literal("cover"), ...Awaited }, closed),
  Type.Object(
    {
      id: SafeCount,
      verb: Type.Literal("cosign"),
      origin: Type.String({ maxLength: 255 }),
      size: SafeCount,
      lines: Type.String({ maxLength: MAX_NOTE_BYTES }),
    },
    closed,
  ),
  Type.Object({ id: SafeCount, verb: Type.Literal("witnessed"), ...Awaited }, closed),
  Type.Object(
    { id: SafeCount, verb: Type.Literal("shard-of"), index: SafeCount, leafHash: Sha256Hex },
    closed,
  ),
  Type.Object({ id: SafeCount, verb: Type.Literal("disclosures") }, closed),
  Type.Object(
    {
      id: SafeCount,
      verb: Type.Literal("sealed"),
      origin: Type.String({ maxLength: 255 }),
      segment: Type.String({ maxLength: 32 }),
    },
    closed,
  ),
  Type.Object({ id: SafeCount, verb: Type.Literal("delete-shards"), before: Instant }, closed),
]);
/** Producers of other releases say more than is known here; that is passed over. */
const readHello = reader(HelloSchema);
const readQuery = reader(QuerySchema);

/** What a session needs of auditd. */
export type SessionHost = {
  readonly log: AuditLog;
  /** The shard in which this very leaf is durable: the one that is written or the one before; null for neither. */
  originOf: (index: number, leafHash: string) => Promise<string | null>;
  /** What the log says of operations of its family; null once nobody waits any more. */
  findOutcomes: (
    prod: string,
    ops: readonly string[],
    after: LogPlace | undefined,
    isOver: () => boolean,
  ) => Promise<SaidOfOperation[] | null>;
  /** Whether it stands in a shard before those, or a restore before them is known to have cost it. */
  isOfOlder: (acknowledged: Acknowledged) => Promise<boolean>;
  /** The oldest segment that the vault does not have. */
  spooled: () => Promise<Spooled | null>;
  eraseSpooled: (origin: string, segment: string) => Promise<void>;
  /** Origins of those that are as good as gone. */
  deleteShards: (beforeMs: number) => Promise<string[]>;
  /** Size of a checkpoint that covers the entry; null when it stands in neither shard. */
  cover: (index: number, leafHash: string | undefined) => Promise<number | null>;
  /** Signature lines of witnesses for the checkpoint of this size of this shard. */
  cosign: (origin: string, size: number, lines: string) => Promise<CosignReply>;
  /** Null when the entry stands in neither shard. */
  witnessed: (index: number, leafHash: string | undefined) => Promise<Witnessed | null>;
  status: () => LogStatus;
  /** Takes what a node signed; null for a producer that relays nothing. */
  relay: (prod: string, query: NodeEvents & { node: string }) => Promise<NodeEventsReply> | null;
  /** A producer holds an acknowledgement that the log does not bear out: from now on, drain. */
  onLoss: () => void;
  onFatal: (error: unknown) => void;
};

export type Claims = { boot: string; highestAck: LeafRef | null; seen: readonly SeenTree[] };

/** One connection: hello, then events and queries. */
export class ProducerSession {
  readonly #prod: string;
  readonly #socket: Socket;
  readonly #host: SessionHost;
  readonly #onHello: () => void;
  #hello: Static<typeof HelloSchema> | null = null;
  #version: number | null = null;
  #isWelcome = false;
  #isOver = false;
  #unanswered = 0;
  #acks: Acks = [];

  constructor(prod: string, socket: Socket, host: SessionHost, onHello: () => void) {
    this.#prod = prod;
    this.#socket = socket;
    this.#host = host;
    this.#onHello = onHello;
    socket.on("drain", () => this.#readOn());
  }

  /** It was sent away: nothing that it asked for is done any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** At once, whatever it has not read. */
  drop(): void {
    this.#socket.destroy();
  }

  get boot(): string {
    return this.#hello?.boot ?? "";
  }

  /** What the producer holds of the log. */
  get claims(): Claims {
    return {
      boot: this.boot,
      highestAck: this.#hello?.highestAck ?? null,
      seen: this.#hello?.seen ?? [],
    };
  }

  /** auditd does not serve it now. */
  refuse(reason: string, message: string): void {
    this.#goodbye(reason, message);
  }

  /** @throws for what no producer of ours sends; the connection must then be dropped */
  receive(kind: number, payload: Buffer): void {
    if (kind === FRAME.hello && this.#hello === null) {
      const hello = readHello(JSON.parse(payload.toString("utf8")));
      if (hello === null) throw new Error("a hello that is none");
      this.#version = agreedVersion(AUDIT_WIRE, hello.v);
      if (this.#version === null) {
        const ours = { ...AUDIT_WIRE, name: "auditd" };
        const theirs = { versions: hello.v, name: `the producer ${this.#prod}` };
        return this.#goodbye(PROTOCOL_UNSUPPORTED, refusalText("audit wire", ours, theirs));
      }
      this.#hello = hello;
      this.#onHello();
    } else if (kind === FRAME.append && this.#isWelcome) this.#append(payload);
    else if (kind === FRAME.query && this.#isWelcome)
      this.#query(JSON.parse(payload.toString("utf8")));
    else throw new Error(`a frame of kind ${kind} at the wrong time`);
  }

  /** It is this session's turn: admits its boot, judges its highest acknowledgement, welcomes it. */
  async begin(): Promise<void> {
    const hello = this.#hello!;
    const { log } = this.#host;
    const known = log.ledger.sequence(this.#prod);
    if (known !== undefined && !known.admitsBoot(hello.boot))
      return this.#goodbye("boot_superseded", "this life of the producer has ended");
    if (known?.boot !== hello.boot)
      await log.record({
        type: "audit.producer.start",
        object: { kind: "producer", id: this.#prod },
        detail: {
          boot: hello.boot,
          first_pseq: hello.firstPseq,
          prev_boot: known?.boot ?? null,
          prev_pseq: known?.lastPseq ?? 0,
        },
      });
    if (hello.highestAck !== undefined && !this.#isOver)
      await this.#evaluateHighestAck(log, hello.highestAck.index, hello.highestAck.leafHash);
    if (this.#isOver) return;
    this.#isWelcome = true;
    const lastPseq = log.ledger.sequence(this.#prod)?.lastPseq ?? 0;
    const { draining } = this.#host.status();
    this.#send(FRAME.welcome, {
      v: this.#version!,
      prod: this.#prod,
      lastPseq,
      draining,
    } satisfies Welcome);
  }

  announce(draining: boolean): void {
    if (this.#isWelcome) this.#send(FRAME.state, { draining });
  }

  replaced(): void {
    this.#goodbye("replaced", "a newer connection of the same life");
  }

  async #evaluateHighestAck(log: AuditLog, index: number, leafHash: string): Promise<void> {
    const { originOf, isOfOlder, onLoss } = this.#host;
    if ((await originOf(index, leafHash)) !== null || this.#isOver) return;
    const acknowledged = { prod: this.#prod, boot: this.boot, index, leafHash };
    const isKnownLoss = log.ledger.isKnownLoss(acknowledged);
    if (!isKnownLoss && ((await isOfOlder(acknowledged)) || this.#isOver)) return;
    if (!log.ledger.knowsLoss(this.#prod, index, leafHash))
      await log.record({
        type: "audit.lost",
        object: { kind: "producer", id: this.#prod },
        detail: { index, leaf_sha256: leafHash, size: log.durableSize },
      });
    if (!isKnownLoss) onLoss();
  }

  #append(payload: Buffer): void {
    const parts = splitAppend(payload);
    if (parts === null) throw new Error("an append whose lengths do not fit");
    this.#asked();
    this.#host.log.submit(this.#prod, this.boot, parts.event, parts.disclosures, {
      durable: (pseq, { index, leafHash }) => {
        this.#answered();
        if (this.#acks.push([pseq, index, leafHash]) === 1) queueMicrotask(() => this.#sendAcks());
      },
      refused: (pseq, { reason, message }, final) => {
        this.#answered();
        this.#sendAcks();
        this.#send(FRAME.refusal, {
          pseq: pseq ?? 0,
          reason,
          message,
          settled: !final,
        } satisfies RefusalFrame);
        if (final) this.#goodbye(reason, message);
      },
      isOver: () => this.#isOver || this.#socket.destroyed,
    });
  }

  #query(value: unknown): void {
    const query = readQuery(value);
    if (query === null) throw new Error("a query that is none");
    this.#asked();
    const { log, cover, cosign, witnessed, status, onFatal } = this.#host;
    switch (query.verb) {
      case "relay": {
        const relayed = this.#host.relay(this.#prod, query);
        if (relayed === null) throw new Error("this producer relays for nobody");
        relayed.then(
          (reply) => this.#reply({ id: query.id, ...reply }),
          (error: unknown) => this.#host.onFatal(error),
        );
        return;
      }
      case "open-operations":
        return this.#reply({
          id: query.id,
          operations: log.ledger.openOperations(this.#prod, Date.now()),
        });
      case "said-of":
        this.#host
          .findOutcomes(
            this.#prod,
            query.ops,
            query.after,
            () => this.#isOver || this.#socket.destroyed,
          )
          .then((said) => said !== null && this.#reply({ id: query.id, said }), onFatal);
        return;
      case "status":
        return this.#reply({ id: query.id, ...status() });
      case "cover":
        cover(query.index, query.leafHash).then(
          (checkpointSize) =>
            this.#answerWait(query.id, checkpointSize === null ? null : { checkpointSize }),
          () => this.#socket.destroySoon(),
        );
        return;
      case "cosign":
        if (this.#prod !== AUDIT_OUT)
          throw new Error(`cosignatures are handed in by ${AUDIT_OUT} alone`);
        cosign(query.origin, query.size, query.lines).then(
          (reply) => this.#reply({ id: query.id, ...reply }),
          onFatal,
        );
        return;
      case "witnessed":
        witnessed(query.index, query.leafHash).then(
          (reply) => this.#answerWait(query.id, reply),
          onFatal,
        );
        return;
      case "shard-of":
        this.#host
          .originOf(query.index, query.leafHash)
          .then((origin) => this.#reply({ id: query.id, origin }), onFatal);
        return;
      case "disclosures":
        if (this.#prod !== VAULT)
          throw new Error(`what opens commitments is handed to ${VAULT} alone`);
        this.#host.spooled().then((spooled) => this.#reply({ id: query.id, spooled }), onFatal);
        return;
      case "sealed":
        if (this.#prod !== VAULT)
          throw new Error(`what opens commitments is sealed by ${VAULT} alone`);
        this.#host.eraseSpooled(query.origin, query.segment).then(
          () => this.#reply({ id: query.id }),
          (error: unknown) =>
            error instanceof RangeError ? this.#socket.destroy(error) : onFatal(error),
        );
        return;
      case "delete-shards":
        if (this.#prod !== VAULT) throw new Error(`${VAULT} alone knows of legal holds`);
        this.#host
          .deleteShards(Date.parse(query.before))
          .then((origins) => this.#send(FRAME.reply, { id: query.id, origins }), onFatal);
    }
  }

  /** Who waits for what no shard holds is no producer of ours. */
  #answerWait(id: number, reply: object | null): void {
    if (reply === null) this.#socket.destroy(new Error("a wait for a leaf that is not there"));
    else this.#reply({ id, ...reply });
  }

  #reply(reply: object): void {
    this.#answered();
    this.#send(FRAME.reply, reply);
  }

  #asked(): void {
    this.#unanswered += 1;
    if (this.#unanswered >= MAX_UNANSWERED) this.#socket.pause();
  }

  #answered(): void {
    this.#unanswered -= 1;
    this.#readOn();
  }

  #readOn(): void {
    const isAhead =
      this.#unanswered < MAX_UNANSWERED / 2 && this.#socket.writableLength < MAX_UNREAD_BYTES;
    if (isAhead && this.#socket.isPaused()) this.#socket.resume();
  }

  #sendAcks(): void {
    if (this.#acks.length === 0) return;
    const acks = this.#acks;
    this.#acks = [];
    this.#send(FRAME.acks, acks);
  }

  #goodbye(reason: string, message: string): void {
    // What it still sends is not heard.
    this.#isWelcome = false;
    this.#isOver = true;
    this.#send(FRAME.goodbye, { reason, message });
    this.#socket.destroySoon();
  }

  #send(kind: FrameKind, payload: unknown): void {
    if (!this.#socket.writable) return;
    this.#socket.write(encodeJsonFrame(kind, payload));
    if (this.#socket.writableLength >= MAX_UNREAD_BYTES) this.#socket.pause();
  }
}
