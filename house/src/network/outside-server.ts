/** A server outside of the appliance: real HTTPS on this host, whose answers a test says. */
import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export type Heard = { method: string; path: string; headers: IncomingHttpHeaders; body: string };

export class OutsideServer implements AsyncDisposable {
  readonly heard: Heard[] = [];
  answer: (response: ServerResponse, heard: Heard) => void = (response) => void response.end("ok");
  readonly #server;

  /** @param identity PEM, of `localhost` */
  static async open(identity: { cert: string; key: string }): Promise<OutsideServer> {
    const outside = new OutsideServer(identity);
    outside.#server.listen(0, "127.0.0.1");
    await once(outside.#server, "listening");
    return outside;
  }

  private constructor(identity: { cert: string; key: string }) {
    this.#server = createServer(identity, (asked, response) => void this.#hear(asked, response));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(path: string): string {
    return `https://localhost:${this.port}${path}`;
  }

  /** As an administrator allows it. */
  get allowed() {
    return { host: "localhost", port: this.port, networks: ["127.0.0.0/8"] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #hear(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: path = "", headers } = asked;
    // Whoever is killed while it sends has sent nothing.
    const body = await text(asked).catch(() => null);
    if (body === null) return;
    const heard = { method, path, headers, body };
    this.heard.push(heard);
    this.answer(response, heard);
  }
}
