/** The appliance behind a developer's pages: it sees requests as if its own pages sent them, and its answers name the developer's address. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import type { Duplex } from "node:stream";
import { fromUpstream, toUpstream } from "./rewritten-headers.ts";

export type UpstreamOptions = {
  /** Of the appliance's front door. */
  url: URL;
  /** Vouches for the door, PEM; null: the authorities that Node knows. */
  ca: string | null;
  /** Of the developer's pages. */
  ownOrigin: () => string;
};

/** A page of Keycloak has its own address in its forms. */
const isHtml = (headers: IncomingHttpHeaders): boolean =>
  headers["content-type"]?.startsWith("text/html") === true;

export class Upstream {
  readonly #options: UpstreamOptions;
  readonly #agent: Agent;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.#agent = new Agent({ keepAlive: true });
  }

  /** Hands the request on, and the answer back. */
  pass(request: IncomingMessage, response: ServerResponse): void {
    const onward = this.#ask(request, (answer) => void this.#give(answer, response));
    onward.on("error", (error) => this.#refuse(response, error));
    // Whoever hangs up waits for nothing any more.
    response.on("close", () => {
      if (!response.writableFinished) onward.destroy();
    });
    request.pipe(onward);
  }

  /** Whether the appliance has a page for whoever asks; where it leads elsewhere, that is handed back. */
  async hasPageFor(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    return await new Promise((resolve) => {
      const onward = this.#ask(request, (answer) => {
        const isPage = answer.statusCode === 200;
        if (isPage) answer.resume();
        else void this.#give(answer, response);
        resolve(isPage);
      });
      onward.on("error", (error) => {
        this.#refuse(response, error);
        resolve(false);
      });
      onward.end();
    });
  }

  /** A WebSocket of the pages. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const onward = this.#ask(request, (answer) => {
      // It was refused: the answer is plain.
      socket.end(`HTTP/1.1 ${answer.statusCode ?? 502} ${answer.statusMessage ?? ""}\r\n\r\n`);
      answer.resume();
    });
    onward.on("upgrade", (answer: IncomingMessage, other: Duplex, otherHead: Buffer) => {
      const lines = Object.entries(answer.headers).map(
        ([name, value]) => `${name}: ${String(value)}`,
      );
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
      socket.write(otherHead);
      other.write(head);
      other.on("error", () => socket.destroy());
      socket.on("error", () => other.destroy());
      socket.pipe(other).pipe(socket);
    });
    onward.on("error", () => socket.destroy());
    onward.end();
  }

  close(): void {
    this.#agent.destroy();
  }

  #ask(request: IncomingMessage, answered: (answer: IncomingMessage) => void) {
    const { url, ca, ownOrigin } = this.#options;
    const options: RequestOptions = {
      ...{ host: url.hostname, port: url.port === "" ? 443 : url.port, agent: this.#agent },
      ...{ method: request.method, path: request.url },
      headers: toUpstream(request.headers, { own: ownOrigin(), upstream: url }),
      ...(ca === null ? {} : { ca }),
    };
    return httpsRequest(options, answered);
  }

  async #give(answer: IncomingMessage, response: ServerResponse): Promise<void> {
    const origins = { own: this.#options.ownOrigin(), upstream: this.#options.url };
    const headers = fromUpstream(answer.headers, origins);
    if (!isHtml(answer.headers)) {
      response.writeHead(answer.statusCode ?? 502, headers);
      answer.on("error", () => response.destroy());
      answer.pipe(response);
      return;
    }
    try {
      const text = Buffer.concat(await answer.toArray()).toString("utf8");
      const { "content-length": _, ...others } = headers;
      response.writeHead(answer.statusCode ?? 502, others);
      response.end(text.replaceAll(origins.upstream.origin, origins.own));
    } catch {
      response.destroy();
    }
  }

  #refuse(response: ServerResponse, error: Error): void {
    if (response.headersSent) return void response.destroy();
    const text = `The appliance at ${this.#options.url.origin} does not answer: ${error.message}\n`;
    response.writeHead(502, { "content-type": "text/plain; charset=utf-8" }).end(text);
  }
}
