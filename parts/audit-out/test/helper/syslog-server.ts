/** A receiver of syslog over TLS that reads frames strictly and keeps what it read; it can be cut off as hard as a test likes. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server, type TLSSocket } from "node:tls";
import type { Certificate } from "./test-authority.ts";

export type Message = { header: string; index: number; body: string };

export class SyslogServer {
  readonly messages: Message[] = [];
  /** What each connection brought, in order. */
  readonly connections: number[][] = [];
  readonly clients: (string | undefined)[] = [];
  #server: Server | null = null;
  readonly #sockets = new Set<TLSSocket>();
  port = 0;
  /**
   * In the middle of the frame that comes after so many it is killed, and away until it listens again. One that is back at once, and had read everything,
   * can't be told from one that kept it: docs/operator/audit-log.md says so.
   */
  cutAfter = Number.POSITIVE_INFINITY;
  /** Reads everything and never closes. */
  isMute = false;

  async listen(certificate: Certificate, clientCaFile?: string): Promise<void> {
    const server = createServer({
      cert: readFileSync(certificate.certFile),
      key: readFileSync(certificate.keyFile),
      ...(clientCaFile === undefined
        ? {}
        : { ca: readFileSync(clientCaFile), requestCert: true, rejectUnauthorized: true }),
      allowHalfOpen: true,
    });
    server.on("secureConnection", (socket) => this.#take(socket));
    server.on("tlsClientError", () => {});
    server.listen(this.port, "127.0.0.1");
    await once(server, "listening");
    this.port = (server.address() as { port: number }).port;
    this.#server = server;
  }

  /** At once: nobody can connect any more, and who is connected is cut off. */
  close(): void {
    this.#server?.close();
    this.#server = null;
    for (const socket of this.#sockets) socket.destroy();
  }

  #take(socket: TLSSocket): void {
    const seen: number[] = [];
    this.connections.push(seen);
    this.clients.push((socket.getPeerCertificate().subject as { CN?: string } | undefined)?.CN);
    this.#sockets.add(socket);
    let rest = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const space = rest.indexOf(0x20);
        if (space === -1) return;
        const length = Number(rest.subarray(0, space).toString("latin1"));
        if (!/^[1-9][0-9]*$/.test(rest.subarray(0, space).toString("latin1")))
          throw new Error(`no frame: ${rest.subarray(0, 50).toString("utf8")}`);
        if (rest.length < space + 1 + length) return;
        if (this.messages.length === this.cutAfter) {
          this.cutAfter = Number.POSITIVE_INFINITY;
          this.close();
          return;
        }
        const message = readMessage(rest.subarray(space + 1, space + 1 + length).toString("utf8"));
        this.messages.push(message);
        seen.push(message.index);
        rest = rest.subarray(space + 1 + length);
      }
    });
    socket.on("end", () => {
      if (!this.isMute) socket.end();
    });
  }
}

const MESSAGE =
  /^(<[0-9]+>1 \S+ \S+ \S+ \S+ \S+) \[sov@[0-9]+ id="[^"]*" index="([0-9]+)" leaf="[0-9a-f]{64}" origin="[^"]*"\] (.*)$/s;

function readMessage(text: string): Message {
  const [, header = "", index = "", body = ""] = MESSAGE.exec(text) ?? [];
  if (header === "") throw new Error(`no message: ${text}`);
  return { header, index: Number(index), body };
}
