/** Calls over few connections of HTTP/2, opened beforehand, so that many begin within milliseconds. */
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { text } from "node:stream/consumers";

/** What the door allows of one connection. */
const STREAMS_EACH = 64;

export type CallOutcome = {
  /** Wall times in milliseconds: when it was sent, and when the answer began. */
  sentAt: number;
  beganAt: number;
  status: number;
  said: string;
  /** The door did not begin it, and it was sent once more. */
  wasRefused: boolean;
};

export class Http2Calls implements Disposable {
  readonly #sessions: readonly ClientHttp2Session[];
  readonly #headers: Record<string, string>;
  #next = 0;

  private constructor(sessions: readonly ClientHttp2Session[], key: string) {
    this.#sessions = sessions;
    this.#headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  }

  /** @param most calls at once */
  static async open(base: string, ca: Buffer, key: string, most: number): Promise<Http2Calls> {
    const sessions = await Promise.all(
      Array.from({ length: Math.ceil(most / STREAMS_EACH) }, async () => {
        const session = connect(base, { ca });
        await new Promise<void>((resolve, reject) => {
          session.once("connect", () => resolve());
          session.once("error", reject);
        });
        // What breaks later breaks each of its calls, which tell.
        session.on("error", () => undefined);
        return session;
      }),
    );
    return new Http2Calls(sessions, key);
  }

  /** A stream that was refused was not begun, and may be sent once more (RFC 9113, 8.7). The time that it took counts as the call's own. */
  async post(path: string, body: unknown): Promise<CallOutcome> {
    const { isRefused, ...first } = await this.#post(path, body);
    if (!isRefused) return { ...first, wasRefused: false };
    const { isRefused: _, ...second } = await this.#post(path, body);
    return { ...second, sentAt: first.sentAt, wasRefused: true };
  }

  async #post(
    path: string,
    body: unknown,
  ): Promise<Omit<CallOutcome, "wasRefused"> & { isRefused: boolean }> {
    const session = this.#sessions[this.#next++ % this.#sessions.length]!;
    const sent = Buffer.from(JSON.stringify(body));
    const stream = session.request({
      ...{ ":method": "POST", ":path": path, ...this.#headers },
      "content-length": sent.length,
    });
    const sentAt = Date.now();
    try {
      const answered = new Promise<number>((resolve, reject) => {
        stream.once("response", (headers) => resolve(Number(headers[":status"])));
        stream.once("error", reject);
        stream.once("close", () => reject(new Error("the stream closed without an answer")));
      });
      stream.end(sent);
      const status = await answered;
      const beganAt = Date.now();
      return { sentAt, beganAt, status, said: await text(stream), isRefused: false };
    } catch (error) {
      const isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
      return { sentAt, beganAt: Date.now(), status: 0, said: String(error), isRefused };
    }
  }

  [Symbol.dispose](): void {
    for (const session of this.#sessions) session.destroy();
  }
}
