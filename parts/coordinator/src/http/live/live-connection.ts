/** One WebSocket of `/api/live`: what its client asks, and what it is told. */
import { ERROR_CATALOGUE } from "@resontech/contracts/error-catalogue";
import type { FeedMessage } from "@resontech/contracts/live-feed";
import {
  HELLO_WITHIN_MS,
  LIVE_CLOSE,
  type LiveAnswer,
  LiveRequest,
  MAX_SUBSCRIPTIONS,
} from "@resontech/contracts/live-socket";
import { Compile } from "typebox/compile";
import type { WebSocket } from "ws";
import type { Feed } from "../../feed/feed.ts";
import type { Reach } from "../../feed/told.ts";
import { asApiError } from "../error-replies.ts";

type Topic = Extract<LiveRequest, { op: "subscribe" }>;

export type LiveConnectionParts = {
  socket: WebSocket;
  feed: Pick<Feed, "subscribe" | "position">;
  /** Null: the client need name none. */
  csrfToken: string | null;
  /** @throws ApiError */
  reachOf: (topic: Topic["topic"]) => Promise<Reach>;
  /** Whether the credential still stands for whom it stood at the start, with the same rights. */
  isStillGood: () => Promise<boolean>;
  /** Milliseconds between two such looks. */
  lookEveryMs: number;
  onError: (error: unknown) => void;
};

/** A peer that answers no ping for so long is gone. */
const PING_MS = 30_000;
/** Bytes that the socket may hold before the next message waits in the feed's bounded queue. */
const MAX_BUFFERED = 256 * 1024;
/** Between two pings: each subscription is decided and may be logged, so nobody asks without end. */
const MAX_REQUESTS = 200;
const isRequest = Compile(LiveRequest);

export class LiveConnection {
  readonly #parts: LiveConnectionParts;
  readonly #end = new AbortController();
  readonly #subscriptions = new Map<number, AbortController>();
  readonly #timers: NodeJS.Timeout[] = [];
  #requestsLeft = MAX_REQUESTS;
  #isGreeted = false;
  #isAnswering = true;
  #isLooking = false;

  private constructor(parts: LiveConnectionParts) {
    this.#parts = parts;
    const { socket, lookEveryMs } = parts;
    socket.on("message", (data, isBinary) =>
      // The library's own default: one Buffer a message.
      this.#take(isBinary ? null : (data as Buffer).toString("utf8")),
    );
    socket.on("pong", () => {
      this.#isAnswering = true;
    });
    socket.on("error", parts.onError);
    socket.once("close", () => this.#leave());
    const hello = setTimeout(() => {
      if (!this.#isGreeted) socket.close(LIVE_CLOSE.refused, "no hello came");
    }, HELLO_WITHIN_MS);
    this.#timers.push(
      hello,
      setInterval(() => this.#ping(), PING_MS),
      setInterval(() => void this.#look(), lookEveryMs),
    );
    for (const timer of this.#timers) timer.unref();
  }

  /** Takes the socket over until it closes. */
  static serve(parts: LiveConnectionParts): LiveConnection {
    return new LiveConnection(parts);
  }

  #take(text: string | null): void {
    const { socket, csrfToken } = this.#parts;
    this.#requestsLeft -= 1;
    if (this.#requestsLeft < 0) return socket.close(LIVE_CLOSE.tooMany, "too many requests");
    const request = text === null ? null : parsed(text);
    if (request === null) return socket.close(LIVE_CLOSE.malformed, "no such request");
    if (request.op === "hello") {
      if (csrfToken !== null && request.csrf !== csrfToken)
        return socket.close(LIVE_CLOSE.refused, "the page is none of this appliance");
      this.#isGreeted = true;
      return this.#say({ op: "ready", epoch: this.#parts.feed.position.epoch });
    }
    if (!this.#isGreeted) return socket.close(LIVE_CLOSE.refused, "hello comes first");
    if (request.op === "unsubscribe") {
      this.#subscriptions.get(request.id)?.abort();
      return;
    }
    if (this.#subscriptions.has(request.id) || this.#subscriptions.size >= MAX_SUBSCRIPTIONS)
      return socket.close(LIVE_CLOSE.malformed, "a number is used twice, or too many are");
    void this.#follow(request);
  }

  async #follow({ id, topic, since }: Topic): Promise<void> {
    const { feed, reachOf, onError } = this.#parts;
    const left = new AbortController();
    this.#subscriptions.set(id, left);
    try {
      const reach = await reachOf(topic);
      const signal = AbortSignal.any([left.signal, this.#end.signal]);
      for await (const message of feed.subscribe(topic, { reach, since, signal }))
        await this.#tell(id, message);
    } catch (error) {
      const known = asApiError(error);
      if (known === null) onError(error);
      const code = known?.code ?? "internal_error";
      const message = known?.message ?? "the subscription failed";
      this.#say({ op: "refused", id, code, message, hint: ERROR_CATALOGUE[code].hint });
    } finally {
      this.#subscriptions.delete(id);
    }
  }

  /** Waits for a slow reader: what comes meanwhile is the feed's to bound. */
  async #tell(id: number, message: FeedMessage): Promise<void> {
    const { socket } = this.#parts;
    if (socket.bufferedAmount < MAX_BUFFERED) return this.#say({ op: "told", id, message });
    await new Promise<void>((resolve) => {
      this.#say({ op: "told", id, message }, () => resolve());
    });
  }

  #say(answer: LiveAnswer, sent?: () => void): void {
    this.#parts.socket.send(JSON.stringify(answer), sent);
  }

  #ping(): void {
    const { socket } = this.#parts;
    if (!this.#isAnswering) return socket.terminate();
    this.#isAnswering = false;
    this.#requestsLeft = MAX_REQUESTS;
    socket.ping();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      if (!(await this.#parts.isStillGood()))
        this.#parts.socket.close(LIVE_CLOSE.signedOut, "the sign-in has ended");
    } catch (error) {
      // Nobody can say at this moment; the next look may.
      this.#parts.onError(error);
    } finally {
      this.#isLooking = false;
    }
  }

  #leave(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#end.abort();
  }
}

function parsed(text: string): LiveRequest | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRequest.Check(value) ? value : null;
  } catch {
    return null;
  }
}
