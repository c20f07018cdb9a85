/**
 * One connection to the engine, one request at a time. Not `node:http`: its client makes a new buffer for each read and passes it through three
 * streams, which costs three times the CPU of reading into a buffer and writing from it (measured: 2.7 s against 0.9 for a gigabyte).
 *
 * Invariants: two read buffers take turns, so that one is filled while the other is on its way, and none is read into before its taker is
 * done with it; a connection goes back to the pool only after request and answer were whole. A request with a body is its connection's last, and says so to the engine: one
 * that refuses an upload need not have read its body (versitygw 1.8.0 leaves a chunked one, and closes after 256 KiB of any other), would take
 * the rest of it for another request, unseen by us, and its answer for the next one's.
 */
import type { Socket } from "node:net";
import { type AnswerHead, parseAnswerHead } from "../decisions/answer-head.ts";
import { ChunkedBody } from "../decisions/chunked-body.ts";
import { ListeningSocket } from "./listening-socket.ts";

/** A client is held up beyond this. More than the socket's own mark, which a single read from a client reaches: each hold-up costs system calls. */
const MAX_UNSENT_BYTES = 256 * 1024;
const MAX_HEAD_BYTES = 64 * 1024;
/** Longest silence: joining the parts of the largest object takes minutes. */
const SILENCE_MS = 15 * 60_000;

/** The engine is away, or went away before it had answered. */
export class EngineUnavailable extends Error {
  override readonly name = "EngineUnavailable";
}

/** Takes a piece of the body; the piece is its own until it calls `done`. */
export type Taker = (bytes: Uint8Array, done: (error?: Error | null) => void) => void;

export type EngineRequest = {
  method: string;
  target: string;
  /** Name, value, name, value …: sent in this order and spelling. */
  rawHeaders: readonly string[];
  /** Called when the engine is ready for a body that was announced by `Expect`. */
  onContinue: () => void;
  /** Called when the engine has taken what was written. */
  onDrain: () => void;
};

type Asked = EngineRequest & {
  head: PromiseWithResolvers<AnswerHead>;
  isSent: boolean;
  frame: Frame;
};
type Frame = "none" | "length" | "chunked";
type Passing = {
  head: AnswerHead;
  left: number;
  chunks: ChunkedBody | null;
  take: Taker;
  /** Pieces that their taker is not done with. Takers are done in order. */
  taken: number;
  ended: PromiseWithResolvers<void>;
};

const READ_BUFFERS = 2;

/** Bytes read at a time: at first, and once a read has filled its buffer. */
export type ReadBytes = { first: number; long: number };

export class EngineConnection {
  readonly #socket: Socket;
  readonly #onIdle: (connection: EngineConnection) => void;
  #asked: Asked | null = null;
  #passing: Passing | null = null;
  #answer: AnswerHead | null = null;
  /** Read and not yet taken. */
  #pending: Buffer = Buffer.alloc(0);
  /** The last piece of a chunked body. */
  #held: Uint8Array | null = null;
  #failure: Error | null = null;
  #isAnswered = false;
  #turn = 0;
  #gathering: NodeJS.Immediate | null = null;

  /**
   * @param onIdle called when another request may follow
   */
  constructor(
    socketPath: string,
    readBytes: ReadBytes,
    onIdle: (connection: EngineConnection) => void,
    onClosed: (connection: EngineConnection) => void,
  ) {
    this.#onIdle = onIdle;
    const buffers = new BuffersInTurns(readBytes);
    const onread = {
      buffer: () => buffers.next(),
      callback: (count: number, bytes: Uint8Array) => {
        buffers.wasRead(count);
        return this.#read(bytes.subarray(0, count));
      },
    };
    this.#socket = new ListeningSocket({ onread }).connect({ path: socketPath });
    this.#socket.setTimeout(SILENCE_MS, () =>
      this.destroy(new Error("the object store is silent")),
    );
    this.#socket.on("drain", () => this.#asked?.onDrain());
    this.#socket.on("error", (error) => this.#fail(error));
    this.#socket.on("end", () => this.#ended());
    this.#socket.on("close", () => {
      this.#fail(new Error("the object store closed the connection"));
      onClosed(this);
    });
  }

  /** Whether the engine has been sent all of a request that it has not answered whole yet. */
  get isAskedWhole(): boolean {
    return this.#asked?.isSent === true;
  }

  /** It has failed, and closes: nobody can ask over it any more. */
  get isBroken(): boolean {
    return this.#failure !== null;
  }

  /** Counts requests whose answer was whole: whoever took the connection before has no part in it any more. */
  get turn(): number {
    return this.#turn;
  }

  /** Sends the head; the body follows by {@link write}, then {@link end}. */
  ask(request: EngineRequest): Promise<AnswerHead> {
    const frame = frameOf(request);
    const asked = { ...request, head: Promise.withResolvers<AnswerHead>(), isSent: false, frame };
    this.#asked = asked;
    // It broke before it was asked: nobody would tell.
    if (this.#failure !== null) asked.head.reject(this.#failure);
    const lines = [`${request.method} ${request.target} HTTP/1.1`];
    for (let at = 0; at < request.rawHeaders.length; at += 2)
      lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`);
    if (frame === "chunked") lines.push("Transfer-Encoding: chunked");
    lines.push(`Connection: ${frame === "none" ? "keep-alive" : "close"}`);
    // With what of the body is there already, in one call.
    this.#gather();
    this.#socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
    this.#socket.resume();
    return asked.head.promise;
  }

  /** False when the caller should wait for `onDrain`. */
  write(bytes: Uint8Array): boolean {
    if (this.#asked === null || this.#failure !== null) return true;
    this.#gather();
    if (this.#asked.frame === "chunked") this.#writeChunk(bytes);
    else this.#socket.write(bytes);
    return this.#socket.writableLength < MAX_UNSENT_BYTES;
  }

  /**
   * Holds `next` back until more comes or the request ends. The engine answers once the frames inside of the body (aws-chunked) are over and hangs up:
   * an end of the body that is written after that would break the connection before its answer is read.
   */
  #writeChunk(next: Uint8Array | null): void {
    const held = this.#held;
    this.#held = next;
    if (held === null) return;
    this.#socket.write(`${held.length.toString(16)}\r\n`, "latin1");
    this.#socket.write(held);
    this.#socket.write("\r\n", "latin1");
  }

  /** The request is whole. */
  end(): void {
    if (this.#asked === null || this.#failure !== null) return;
    this.#asked.isSent = true;
    if (this.#asked.frame === "chunked") {
      this.#gather();
      this.#writeChunk(null);
      this.#socket.write("0\r\n\r\n", "latin1");
    }
    this.#flush();
    this.#settle();
  }

  /** TLS hands over records of 16 KiB: what comes in one turn of the event loop goes out in one call. */
  #gather(): void {
    if (this.#gathering !== null) return;
    this.#socket.cork();
    this.#gathering = setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#gathering === null) return;
    clearImmediate(this.#gathering);
    this.#gathering = null;
    this.#socket.uncork();
  }

  /** Passes the body of the answer on. @throws EngineUnavailable, and what the taker reports */
  async pass(take: Taker): Promise<void> {
    const head = this.#answer;
    if (head === null) throw new Error("there is no answer yet");
    const { frame } = head;
    const left =
      frame.kind === "length" ? frame.bytes : frame.kind === "none" ? 0 : Number.POSITIVE_INFINITY;
    const chunks = frame.kind === "chunked" ? new ChunkedBody() : null;
    this.#passing = { head, left, chunks, take, taken: 0, ended: Promise.withResolvers<void>() };
    const { ended } = this.#passing;
    const first = this.#pending;
    this.#pending = Buffer.alloc(0);
    try {
      if (this.#failure !== null) ended.reject(this.#failure);
      else if ((first.length === 0 && left > 0) || this.#passOn(this.#passing, first))
        this.#socket.resume();
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
    }
    await ended.promise;
  }

  /** @param turn of whoever asks for it; nothing happens where that is over */
  destroy(error: Error, turn = this.#turn): void {
    if (turn !== this.#turn) return;
    this.#fail(error);
    this.#socket.destroy();
  }

  /** @returns whether to go on reading */
  #read(bytes: Uint8Array): boolean {
    try {
      if (this.#passing !== null) return this.#passOn(this.#passing, bytes);
      if (this.#asked === null || this.#answer !== null)
        throw new SyntaxError("the object store speaks unasked");
      this.#pending = Buffer.concat([this.#pending, bytes]);
      return this.#readHead(this.#asked);
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
      return false;
    }
  }

  #readHead(asked: Asked): boolean {
    for (;;) {
      const end = this.#pending.indexOf("\r\n\r\n");
      if (end < 0) {
        if (this.#pending.length > MAX_HEAD_BYTES)
          throw new SyntaxError("the head of the object store's answer is too long");
        return true;
      }
      const head = parseAnswerHead(
        this.#pending.toString("latin1", 0, end),
        asked.method === "HEAD",
      );
      this.#pending = this.#pending.subarray(end + 4);
      if (head.status === 100) asked.onContinue();
      if (head.status < 200) continue;
      this.#answer = head;
      asked.head.resolve(head);
      // Nothing more is read before somebody takes the body.
      return false;
    }
  }

  /** @returns whether to go on reading; if not, reading goes on when a taker is done */
  #passOn(passing: Passing, bytes: Uint8Array): boolean {
    const content = passing.chunks === null ? bytes : passing.chunks.push(bytes);
    if (content.length > passing.left)
      throw new SyntaxError("the object store's answer is longer than it said");
    passing.left = passing.chunks?.isEnded === true ? 0 : passing.left - content.length;
    passing.taken += 1;
    let isLate = false;
    const done = (error?: Error | null): void => {
      passing.taken -= 1;
      if (error !== undefined && error !== null) this.destroy(error);
      else if (passing.left === 0 && passing.taken === 0) this.#finish();
      // After the last byte the end of the connection is nobody's failure: it is read once the answer is taken.
      else if (isLate && passing.left > 0) this.#socket.resume();
    };
    if (content.length === 0) done();
    else passing.take(content, done);
    // Within a read a socket can't be resumed: what the read answers decides.
    isLate = true;
    return passing.taken === 0 || (passing.left > 0 && passing.taken < READ_BUFFERS);
  }

  #ended(): void {
    if (this.#passing?.head.frame.kind === "close") this.#finish();
  }

  /** The answer is whole. */
  #finish(): void {
    const passing = this.#passing;
    this.#passing = null;
    passing?.ended.resolve();
    if (this.#answer !== null && this.#pending.length === 0) this.#settle(true);
  }

  /** Back to the pool once both sides are whole. */
  #settle(isAnswered = this.#isAnswered): void {
    this.#isAnswered = isAnswered;
    if (!isAnswered || this.#asked?.isSent !== true) return;
    const keepsOpen =
      this.#answer?.keepsOpen === true && this.#failure === null && this.#asked.frame === "none";
    this.#asked = null;
    this.#answer = null;
    this.#isAnswered = false;
    this.#turn += 1;
    if (!keepsOpen) {
      this.#socket.destroy();
      return;
    }
    // An idle connection reads, to learn of its end.
    this.#socket.resume();
    this.#onIdle(this);
  }

  #fail(cause: Error): void {
    if (this.#failure !== null) return;
    this.#failure = new EngineUnavailable("the object store does not answer", { cause });
    const asked = this.#asked;
    // Whoever waits is told; a rejection that nobody waits for is none.
    asked?.head.promise.catch(() => {});
    asked?.head.reject(this.#failure);
    this.#passing?.ended.reject(this.#failure);
  }
}

/** Node asks for the next one after each read. Short answers are most, and small; long downloads take larger buffers with fewer system calls. */
class BuffersInTurns {
  readonly #long: number;
  readonly #buffers: Buffer[] = [];
  #bytes: number;
  #turn = 0;

  constructor({ first, long }: ReadBytes) {
    this.#bytes = first;
    this.#long = long;
  }

  wasRead(count: number): void {
    if (count === this.#bytes) this.#bytes = this.#long;
  }

  next(): Buffer {
    const at = this.#turn++ % READ_BUFFERS;
    const buffer = this.#buffers[at];
    if (buffer?.length === this.#bytes) return buffer;
    return (this.#buffers[at] = Buffer.allocUnsafeSlow(this.#bytes));
  }
}

/** How the request's body is framed: by the length that it names, else in chunks where its method has a body. */
function frameOf({ method, rawHeaders }: EngineRequest): Frame {
  const at = rawHeaders.findIndex(
    (name, index) => index % 2 === 0 && name.toLowerCase() === "content-length",
  );
  if (at >= 0) return Number(rawHeaders[at + 1]) === 0 ? "none" : "length";
  return method === "GET" || method === "HEAD" || method === "DELETE" ? "none" : "chunked";
}
