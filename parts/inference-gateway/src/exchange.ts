/** One request to a replica for a client: it ends in time, and at once when the client hangs up. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { requestIdOf } from "./call.ts";
import type { Replica } from "./admission.ts";
import type { Tally } from "./records/tally.ts";
import type { ReplicaBody } from "./replica-body.ts";
import type { Refusal } from "./refuse.ts";
import type { ReplicaPool } from "./replica-pool.ts";

/** What of an answer is the replica's to say. */
const PASSED_HEADERS = ["content-type", "content-length", "x-replica-id", "retry-after"] as const;

export type Asked = {
  request: IncomingMessage;
  response: ServerResponse;
  /** From now to the last byte of the answer, milliseconds. */
  limitMs: number;
  /** Each piece of the answer begins the limit anew: it is one of silence. */
  isOfSilence?: boolean;
};

/** @property accept what the client takes; absent: the replica is not told */
export type AskedOf = { method: "GET" | "POST"; path: string; accept?: string };

export class Exchange implements Disposable {
  readonly #pool: ReplicaPool;
  readonly #asked: Asked;
  readonly #requestId: string;
  readonly #timer: NodeJS.Timeout;
  #upstream: ClientRequest | null = null;
  #isLate = false;
  #isClientGone = false;
  #isReplicaGone = false;
  readonly #over = new AbortController();
  #kept: Readable | null = null;

  constructor(pool: ReplicaPool, asked: Asked) {
    this.#pool = pool;
    this.#asked = asked;
    this.#requestId = requestIdOf(asked.request.headers) ?? randomUUID();
    this.#timer = setTimeout(() => {
      this.#isLate = true;
      this.#upstream?.destroy();
      this.#kept?.destroy(new Error("the caller takes too long"));
      this.#over.abort();
    }, asked.limitMs);
    // Who hangs up needs no answer: the replica is told by the end of its connection.
    asked.response.once("close", () => {
      // An answer that breaks off closes the client's side as well.
      this.#isClientGone = !this.#isReplicaGone;
      this.#upstream?.destroy();
      this.#over.abort();
    });
  }

  /** As the client named the request, or the gateway did. */
  get requestId(): string {
    return this.#requestId;
  }

  /** The limit passed, and that was the end. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** The client hung up before anything else broke. */
  get isClientGone(): boolean {
    return this.#isClientGone;
  }

  /** The limit passed, or the client hung up. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** What to say to a client whose exchange broke before the answer began. */
  get refusal(): Refusal {
    return this.#isLate
      ? {
          ...{ status: 504, type: "timeout" },
          message: `no answer in ${this.#asked.limitMs / 1_000} s`,
        }
      : {
          ...{ status: 502, type: "replica_unreachable", message: "the replica went away" },
          retryAfterS: 1,
        };
  }

  /**
   * Resolves with the head of the replica's answer.
   * @param sent the body, and what counts it as it passes; null: the request has none
   * @param whole called once the replica has the request to its end; an answer may come before
   * @throws ReplicaUnreached before anything was sent; else what broke
   */
  async ask(
    replica: Replica,
    { method, path, accept }: AskedOf,
    sent: { body: ReplicaBody; tally: Tally } | null,
    whole: () => void = () => undefined,
  ): Promise<IncomingMessage> {
    const upstream = this.#pool.request(replica, {
      ...{ method, path },
      headers: {
        host: "replica",
        "x-request-id": this.#requestId,
        ...(accept === undefined ? {} : { accept }),
        ...(sent?.body.contentType === undefined ? {} : { "content-type": sent.body.contentType }),
        ...(sent === null ? {} : { "content-length": sent.body.length }),
      },
    });
    this.#upstream = upstream;
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      upstream.once("response", (from) => {
        from.once("error", () => (this.#isReplicaGone = !this.#isClientGone));
        resolve(from);
      });
      upstream.once("error", reject);
    });
    // What was sent is sent to nobody else: first there is somebody to take it.
    await Promise.race([once(upstream, "socket"), answered]);
    if (sent === null) {
      upstream.end();
      whole();
    }
    // An answer may come before the whole of the request has gone; that it breaks is the answer's to say.
    else pipeline(sent.body.stream, sent.tally.pass, upstream).then(whole, () => {});
    return await answered;
  }

  /** Hands the replica's answer on. @throws what broke */
  async handOn(from: IncomingMessage, got: Tally): Promise<void> {
    // It may have broken off while the call was put on record: nothing of it is said then.
    if (from.destroyed)
      throw new Error("the replica broke off its answer", { cause: from.errored });
    await this.#handOn(from, from, got);
  }

  /** Hands an answer on whose body was kept. @throws what broke */
  async handOnKept(from: IncomingMessage, body: Readable, got: Tally): Promise<void> {
    this.#kept = body;
    await this.#handOn(from, body, got);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    // Whatever is still asked for the call is asked in vain.
    this.#over.abort();
  }

  async #handOn(from: IncomingMessage, body: Readable, got: Tally): Promise<void> {
    const { response } = this.#asked;
    response.statusCode = from.statusCode ?? 502;
    response.setHeader("x-request-id", this.#requestId);
    for (const name of PASSED_HEADERS) {
      const value = from.headers[name];
      if (value !== undefined) response.setHeader(name, value);
    }
    await pipeline(body, this.#renewing(got), response);
  }

  #renewing(got: Tally): Tally["pass"] {
    if (this.#asked.isOfSilence !== true) return got.pass;
    const timer = this.#timer;
    return async function* (source) {
      for await (const piece of got.pass(source)) {
        timer.refresh();
        yield piece;
      }
    };
  }
}
