/** One HTTP request to a witness: bounded in time and size, TLS by the given CA alone. */
import { Agent, type IncomingMessage, request } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import { MAX_NOTE_BYTES } from "@resontech/audit/format/note/signed-note";

const TIMEOUT_MS = 10_000;

export type Exchanged = { status: number; body: string };

export class HttpExchange implements Disposable {
  readonly #agent: Agent;
  readonly #tlsAgent: TlsAgent;

  /** @param ca PEM; null: those that Node trusts */
  constructor(ca: Buffer | null) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: 4 });
    this.#tlsAgent = new TlsAgent({
      keepAlive: true,
      maxSockets: 4,
      minVersion: "TLSv1.2",
      ...(ca === null ? {} : { ca }),
    });
  }

  /** A body makes it a POST. @throws when there is no whole answer in time, or it is longer than a note */
  async send(url: string, body: string | null, signal: AbortSignal): Promise<Exchanged> {
    const isTls = url.startsWith("https:");
    const options = {
      method: body === null ? "GET" : "POST",
      agent: isTls ? this.#tlsAgent : this.#agent,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers:
        body === null
          ? {}
          : {
              "Content-Type": "text/plain; charset=utf-8",
              "Content-Length": Buffer.byteLength(body),
            },
    };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = isTls ? tlsRequest(url, options) : request(url, options);
      sent
        .once("response", resolve)
        .once("error", reject)
        .end(body ?? undefined);
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_NOTE_BYTES)
        throw new RangeError(`the witness answers more than ${MAX_NOTE_BYTES} bytes`);
      chunks.push(chunk);
    }
    return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString("utf8") };
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
    this.#tlsAgent.destroy();
  }
}
