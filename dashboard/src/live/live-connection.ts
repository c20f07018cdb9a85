/**
 * One WebSocket for the whole tab. Whoever subscribes hears every change in order, and `reset` where something was missed; a connection that
 * breaks comes back by itself and goes on where it was.
 */
import type { FeedMessage, FeedPosition, FeedTopic } from "@resontech/contracts/live-feed";
import type { LiveAnswer, LiveRequest } from "@resontech/contracts/live-socket";
import { backOffMs } from "./back-off.ts";

/** `told` is never called before the subscription stands. */
export type Listener = {
  told: (message: FeedMessage) => void;
  /** The appliance refuses the topic; nothing more comes. */
  refused?: (answer: Extract<LiveAnswer, { op: "refused" }>) => void;
};
type Subscription = { topic: FeedTopic; listener: Listener; since: FeedPosition | null };
/**
 * `unused`: the page listens to nothing. `since`: when it was live last, Unix milliseconds; null before the first time.
 */
export type LiveState =
  | { kind: "unused" }
  | { kind: "live" }
  | { kind: "away"; since: number | null };

export type LiveConnectionParts = {
  open: () => WebSocket;
  csrf: () => string;
  /** The session ended: there is no way back without a sign-in. */
  onSignedOut: () => void;
  now: () => number;
  random: () => number;
};

/** `LIVE_CLOSE.signedOut` of the protocol. */
const SIGNED_OUT = 4401;

export class LiveConnection {
  readonly #parts: LiveConnectionParts;
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #watchers = new Set<() => void>();
  #socket: WebSocket | null = null;
  #epoch: string | null = null;
  #state: LiveState = { kind: "unused" };
  #next = 1;
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | null = null;
  #isPaused = false;
  #isOver = false;

  constructor(parts: LiveConnectionParts) {
    this.#parts = parts;
  }

  readonly state = (): LiveState => this.#state;

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  /** Answers how to leave. */
  subscribe(topic: FeedTopic, listener: Listener): () => void {
    const id = this.#next;
    this.#next += 1;
    const subscription: Subscription = { topic, listener, since: null };
    this.#subscriptions.set(id, subscription);
    if (this.#state.kind === "live") this.#ask(id, subscription);
    else {
      if (this.#state.kind === "unused") this.#become({ kind: "away", since: null });
      this.#connect();
    }
    return () => {
      this.#subscriptions.delete(id);
      if (this.#state.kind === "live") this.#say({ op: "unsubscribe", id });
    };
  }

  /** Nobody looks: nothing is sent until {@link resume}. */
  pause(): void {
    this.#isPaused = true;
    this.#stopRetry();
    this.#socket?.close();
  }

  resume(): void {
    this.#isPaused = false;
    this.#failures = 0;
    this.#connect();
  }

  #connect(): void {
    if (this.#socket !== null || this.#isPaused || this.#isOver || this.#subscriptions.size === 0)
      return;
    this.#stopRetry();
    const socket = this.#parts.open();
    this.#socket = socket;
    socket.addEventListener("open", () => this.#say({ op: "hello", csrf: this.#parts.csrf() }));
    socket.addEventListener("message", ({ data }) =>
      this.#take(JSON.parse(String(data)) as LiveAnswer),
    );
    socket.addEventListener("close", ({ code }) => this.#lose(code));
  }

  #take(answer: LiveAnswer): void {
    if (answer.op === "ready") {
      this.#epoch = answer.epoch;
      this.#failures = 0;
      for (const [id, subscription] of this.#subscriptions) this.#ask(id, subscription);
      return this.#become({ kind: "live" });
    }
    const subscription = this.#subscriptions.get(answer.id);
    if (subscription === undefined) return;
    if (answer.op === "refused") {
      this.#subscriptions.delete(answer.id);
      return subscription.listener.refused?.(answer);
    }
    const { message } = answer;
    const epoch =
      message.kind === "reset" ? message.epoch : (subscription.since?.epoch ?? this.#epoch);
    if (epoch !== null) subscription.since = { epoch, sequence: message.sequence };
    subscription.listener.told(message);
  }

  #lose(code: number): void {
    this.#socket = null;
    if (this.#state.kind === "live") this.#become({ kind: "away", since: this.#parts.now() });
    if (code === SIGNED_OUT) {
      this.#isOver = true;
      return this.#parts.onSignedOut();
    }
    if (this.#isPaused) return;
    this.#failures += 1;
    this.#retry = setTimeout(
      () => this.#connect(),
      backOffMs(this.#failures, this.#parts.random()),
    );
  }

  #ask(id: number, { topic, since }: Subscription): void {
    this.#say({ op: "subscribe", id, topic, ...(since === null ? {} : { since }) });
  }

  #say(request: LiveRequest): void {
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify(request));
  }

  #stopRetry(): void {
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
  }

  #become(state: LiveState): void {
    this.#state = state;
    for (const watcher of this.#watchers) watcher();
  }
}
