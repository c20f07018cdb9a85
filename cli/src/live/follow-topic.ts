/** A topic of the change feed, to loop over. A connection that breaks comes back and goes on behind the last message. */
import { setTimeout as sleep } from "node:timers/promises";
import type { FeedMessage, FeedPosition, FeedTopic } from "@resontech/contracts/live-feed";
import type { LiveAnswer, LiveRequest } from "@resontech/contracts/live-socket";
import { WebSocket } from "ws";
import { CliError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** The appliance pings twice as often. */
const SILENT_MS = 75_000;

/** What ended one connection: nothing more comes of it. */
type End = { kind: "closed" } | { kind: "failed"; error: CliError };

/**
 * @param onAway told each time that the connection breaks, with why
 * @throws CliError for a topic or a credential that is refused, and when the first connection fails
 */
export async function* followTopic(
  settings: Settings,
  topic: FeedTopic,
  onAway: (why: string) => void,
): AsyncGenerator<FeedMessage, void, void> {
  let since: FeedPosition | undefined;
  let wait = FIRST_WAIT_MS;
  for (let isFirst = true; ; isFirst = false) {
    const connection = await TopicConnection.open(settings, topic, since);
    try {
      for await (const message of connection) {
        isFirst = false;
        wait = FIRST_WAIT_MS;
        const epoch = message.kind === "reset" ? message.epoch : (since?.epoch ?? "");
        since = { epoch, sequence: message.sequence };
        yield message;
      }
    } finally {
      connection.leave();
    }
    const { end } = connection;
    if (end?.kind === "failed" && (isFirst || end.error.code !== "unreachable")) throw end.error;
    onAway(end?.kind === "failed" ? end.error.message : "the connection ended");
    await sleep(wait);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}

class TopicConnection implements AsyncIterable<FeedMessage> {
  readonly #socket: WebSocket;
  readonly #came: FeedMessage[] = [];
  #wake: () => void = () => {};
  end: End | null = null;

  private constructor(socket: WebSocket, topic: FeedTopic, since: FeedPosition | undefined) {
    this.#socket = socket;
    const silence = setTimeout(() => socket.terminate(), SILENT_MS);
    socket.on("open", () => this.#say({ op: "hello" }));
    socket.on("ping", () => silence.refresh());
    socket.on("message", (data) => {
      silence.refresh();
      const answer = JSON.parse((data as Buffer).toString("utf8")) as LiveAnswer;
      if (answer.op === "ready")
        return this.#say({
          op: "subscribe",
          id: 1,
          topic,
          ...(since === undefined ? {} : { since }),
        });
      if (answer.op === "refused")
        return this.#over({
          kind: "failed",
          error: new CliError(answer.code, answer.message, answer.hint),
        });
      this.#came.push(answer.message);
      this.#wake();
    });
    socket.on("unexpected-response", (_request, reply) => {
      let text = "";
      reply.setEncoding("utf8");
      reply.on("data", (part: string) => (text += part));
      reply.on("end", () =>
        this.#over({ kind: "failed", error: refusalOf(text, reply.statusCode) }),
      );
    });
    socket.on("error", (error) =>
      this.#over({ kind: "failed", error: unreachable(error.message) }),
    );
    socket.on("close", () => {
      clearTimeout(silence);
      this.#over({ kind: "closed" });
    });
  }

  static async open(
    { baseUrl, ca, credential }: Settings,
    topic: FeedTopic,
    since: FeedPosition | undefined,
  ): Promise<TopicConnection> {
    const url = new URL("/api/live", baseUrl);
    url.protocol = baseUrl.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url, {
      headers: { authorization: `Bearer ${await credential()}` },
      perMessageDeflate: false,
      ...(ca === null ? {} : { ca }),
    });
    return new TopicConnection(socket, topic, since);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FeedMessage, void, void> {
    for (;;) {
      const message = this.#came.shift();
      if (message !== undefined) yield message;
      else if (this.end !== null) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  leave(): void {
    this.#socket.terminate();
  }

  #say(request: LiveRequest): void {
    this.#socket.send(JSON.stringify(request));
  }

  #over(end: End): void {
    this.end ??= end;
    this.#wake();
  }
}

function unreachable(why: string): CliError {
  return new CliError(
    "unreachable",
    `the appliance does not answer: ${why}`,
    "Check RESON_BASE_URL, SSL_CERT_FILE and the network.",
  );
}

/** The API's own error; a part that is restarting counts as not there. */
function refusalOf(text: string, status: number | undefined): CliError {
  if ((status ?? 503) >= 500) return unreachable(`status ${status}`);
  try {
    const { code, message, hint } = JSON.parse(text) as Record<"code" | "message" | "hint", string>;
    return new CliError(code, message, hint);
  } catch {
    return unreachable(`status ${status}`);
  }
}
