/**
 * One producer's connection to auditd: connects, resends, and keeps order.
 *
 * Invariants: what is unacknowledged is kept in order of `pseq` and sent again, byte for byte, after each welcome; an event leaves
 * the list only by auditd's acknowledgement or refusal; nothing is sent before the welcome.
 */
import { connect, type Socket } from "node:net";
import { AuditRejected, type ComposedEvent } from "../format/event/compose-event.ts";
import {
  type Acks,
  AUDIT_WIRE,
  encodeAppend,
  encodeJsonFrame,
  FRAME,
  FrameReader,
  type Goodbye,
  type Hello,
  type LeafRef,
  MAX_AUDITD_FRAME_BYTES,
  type Query,
  type RefusalFrame,
  type SeenTree,
  type Welcome,
} from "../format/wire/frames.ts";
import { versionsOf } from "@resontech/contracts/protocol-versions";
import { AuditUnavailable } from "./errors.ts";

const FIRST_RETRY_MS = 20;
const LAST_RETRY_MS = 1_000;

export type LinkOptions = {
  socketPath: string;
  boot: string;
  firstPseq: number;
  highestAck: LeafRef | undefined;
  seen: (() => readonly SeenTree[]) | undefined;
  signal: AbortSignal | undefined;
};

type Unacknowledged = {
  pseq: number;
  frame: Buffer;
  resolve: (ack: LeafRef) => void;
  reject: (error: Error) => void;
};
type Waiting = { resolve: (reply: unknown) => void; reject: (error: Error) => void };

export class Link {
  readonly #options: LinkOptions;
  readonly #unacknowledged = new Map<number, Unacknowledged>();
  readonly #queries = new Map<number, Waiting>();
  readonly #welcomed = Promise.withResolvers<void>();
  #socket: Socket | null = null;
  #isWelcome = false;
  #isClosed = false;
  #retryMs = FIRST_RETRY_MS;
  #retryTimer: NodeJS.Timeout | undefined;
  #downSinceMs = performance.now();
  #nextQuery = 1;
  #highestAck: LeafRef | undefined;
  #highestPseq = 0;
  #onDrained: (() => void) | undefined;
  draining = false;
  lastError: string | null = null;
  /** The number of this life's last event that auditd had at the last welcome. */
  acceptedPseq = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#highestAck = options.highestAck;
    this.#welcomed.promise.catch(() => {});
    options.signal?.addEventListener("abort", () => this.destroy(), { once: true });
    if (options.signal?.aborted === true) this.destroy();
    else this.#connect();
  }

  /** Settles with the first welcome; rejects when the link is closed before it. */
  get welcomed(): Promise<void> {
    return this.#welcomed.promise;
  }

  /** Milliseconds without a welcome; 0 while connected. */
  get downMs(): number {
    return this.#isWelcome ? 0 : performance.now() - this.#downSinceMs;
  }

  get unacknowledgedCount(): number {
    return this.#unacknowledged.size;
  }

  get highestAck(): LeafRef | undefined {
    return this.#highestAck;
  }

  /** Events must come in order of `pseq`. */
  send(composed: ComposedEvent): Promise<LeafRef> {
    if (this.#isClosed)
      return Promise.reject(new AuditUnavailable("closed", "the audit producer is closed"));
    const frame = encodeAppend(Buffer.from(composed.event, "utf8"), composed.disclosures);
    const { promise, resolve, reject } = Promise.withResolvers<LeafRef>();
    this.#unacknowledged.set(composed.pseq, { pseq: composed.pseq, frame, resolve, reject });
    if (this.#isWelcome) this.#writeSoon(frame);
    return promise;
  }

  query(query: Query): Promise<unknown> {
    if (!this.#isWelcome)
      return Promise.reject(new AuditUnavailable("disconnected", "no connection to auditd"));
    const id = this.#nextQuery++;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#queries.set(id, { resolve, reject });
    this.#writeSoon(encodeJsonFrame(FRAME.query, { ...query, id }));
    return promise;
  }

  /** Waits until all is acknowledged, at most `timeoutMs`, then closes. */
  async close(timeoutMs: number): Promise<void> {
    if (this.#unacknowledged.size > 0 && !this.#isClosed) {
      const drained = Promise.withResolvers<void>();
      this.#onDrained = drained.resolve;
      const timer = setTimeout(drained.resolve, timeoutMs);
      await drained.promise;
      clearTimeout(timer);
    }
    this.destroy();
  }

  destroy(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    this.#socket?.destroy();
    const closed = new AuditUnavailable("closed", "the audit producer was closed");
    this.#welcomed.reject(closed);
    this.#reconcileQueries(closed);
    for (const waiting of this.#unacknowledged.values()) waiting.reject(closed);
    this.#unacknowledged.clear();
    this.#onDrained?.();
  }

  /** What is sent in one turn of the event loop goes to the kernel in one call. */
  #writeSoon(frame: Buffer): void {
    const socket = this.#socket;
    if (socket === null) return;
    if (socket.writableCorked === 0) {
      socket.cork();
      process.nextTick(() => socket.uncork());
    }
    socket.write(frame);
  }

  #connect(): void {
    const socket = connect(this.#options.socketPath);
    const reader = new FrameReader(MAX_AUDITD_FRAME_BYTES);
    this.#socket = socket;
    socket.on("connect", () => {
      const { boot, firstPseq, seen } = this.#options;
      const hello: Hello = {
        v: versionsOf(AUDIT_WIRE),
        boot,
        firstPseq,
        highestAck: this.#highestAck,
        ...(seen === undefined ? {} : { seen: [...seen()] }),
      };
      socket.write(encodeJsonFrame(FRAME.hello, hello));
    });
    socket.on("data", (chunk: Buffer) => {
      try {
        for (const { kind, payload } of reader.push(chunk))
          this.#receive(kind, JSON.parse(payload.toString("utf8")));
      } catch (error) {
        socket.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    });
    socket.on("error", (error) => {
      this.lastError = error.message;
    });
    socket.on("close", () => this.#disconnected());
  }

  #disconnected(): void {
    if (this.#isWelcome) this.#downSinceMs = performance.now();
    this.#isWelcome = false;
    this.#reconcileQueries(new AuditUnavailable("disconnected", "auditd closed the connection"));
    if (this.#isClosed) return;
    this.#retryTimer = setTimeout(() => this.#connect(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }

  /** auditd is trusted with the shape of what it says: it holds the log. */
  #receive(kind: number, payload: unknown): void {
    switch (kind) {
      case FRAME.welcome: {
        this.draining = (payload as Welcome).draining;
        this.acceptedPseq = (payload as Welcome).lastPseq;
        this.#isWelcome = true;
        for (const { frame } of this.#unacknowledged.values()) this.#socket?.write(frame);
        this.#welcomed.resolve();
        return;
      }
      case FRAME.acks:
        // Not at the welcome: an event that auditd hangs up on must not be sent again without a pause.
        this.#retryMs = FIRST_RETRY_MS;
        for (const [pseq, index, leafHash] of payload as Acks)
          this.#settle(pseq, { index, leafHash });
        return;
      case FRAME.refusal: {
        const { pseq, reason, message, settled } = payload as RefusalFrame;
        const refused = this.#unacknowledged.get(pseq);
        this.#unacknowledged.delete(pseq);
        refused?.reject(new AuditRejected(reason, message, settled));
        break;
      }
      case FRAME.reply: {
        const { id, ...reply } = payload as { id: number };
        this.#queries.get(id)?.resolve(reply);
        this.#queries.delete(id);
        return;
      }
      case FRAME.state:
        this.draining = (payload as { draining: boolean }).draining;
        return;
      case FRAME.goodbye: {
        const { reason, message } = payload as Goodbye;
        this.lastError = `${reason}: ${message}`;
        // No later welcome can come.
        if (reason === "boot_superseded")
          this.#welcomed.reject(new AuditUnavailable("superseded", message));
        return;
      }
      default:
        throw new RangeError(`auditd sent a frame of kind ${kind}`);
    }
    if (this.#unacknowledged.size === 0) this.#onDrained?.();
  }

  #settle(pseq: number, ack: LeafRef): void {
    const waiting = this.#unacknowledged.get(pseq);
    if (waiting === undefined) return;
    this.#unacknowledged.delete(pseq);
    // Events stand in the log in the order of their numbers; indices begin anew with each shard.
    if (pseq > this.#highestPseq) {
      this.#highestPseq = pseq;
      this.#highestAck = ack;
    }
    waiting.resolve(ack);
    if (this.#unacknowledged.size === 0) this.#onDrained?.();
  }

  #reconcileQueries(error: Error): void {
    for (const { reject } of this.#queries.values()) reject(error);
    this.#queries.clear();
  }
}
