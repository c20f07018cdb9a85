import type { LiveAnswer, LiveRequest } from "@resontech/contracts/live-socket";
import { WebSocket } from "ws";

/** A client of `/api/live` that keeps what it was told. */
export class LiveClient implements Disposable {
  readonly told: LiveAnswer[] = [];
  readonly #socket: WebSocket;
  readonly #closed: Promise<{ code: number; reason: string }>;
  readonly #waiting = new Set<() => void>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.#closed = new Promise((resolve) => {
      socket.once("close", (code, reason) => resolve({ code, reason: String(reason) }));
    });
    socket.on("message", (data) => {
      this.told.push(JSON.parse((data as Buffer).toString("utf8")) as LiveAnswer);
      for (const wake of [...this.#waiting]) wake();
    });
  }

  /** @throws the status of an answer that is no connection */
  static async open(url: string, ca: string, headers: Record<string, string>): Promise<LiveClient> {
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/api/live`, { ca, headers });
    const client = new LiveClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("unexpected-response", (_request, reply) => {
        reject(new Error(`status ${reply.statusCode}`));
        socket.terminate();
      });
      socket.on("error", reject);
    });
    return client;
  }

  say(request: LiveRequest): void {
    this.#socket.send(JSON.stringify(request));
  }

  sayText(text: string): void {
    this.#socket.send(text);
  }

  /** Reads nothing more, as a reader does whose network is slow. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** The first answer that is so, among those that came and those that come. */
  async heard(isIt: (answer: LiveAnswer) => boolean, withinMs = 60_000): Promise<LiveAnswer> {
    const deadline = AbortSignal.timeout(withinMs);
    for (;;) {
      const found = this.told.find(isIt);
      if (found !== undefined) return found;
      await new Promise<void>((resolve, reject) => {
        const wake = () => {
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
        deadline.addEventListener("abort", () => reject(new Error("it was not heard")));
      });
    }
  }

  /** How the server ended the connection. @throws when it has not within the time. */
  async closed(withinMs = 60_000): Promise<{ code: number; reason: string }> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error(`still open after ${withinMs} ms, told ${this.told.length}`)),
      withinMs,
    );
    return await Promise.race([this.#closed, late.promise]).finally(() => clearTimeout(timer));
  }

  [Symbol.dispose](): void {
    this.#socket.terminate();
  }
}
