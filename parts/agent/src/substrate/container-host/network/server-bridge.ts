/**
 * The server's side of a bridge: listens for the agents of the attempt's other nodes, admits those by their very certificates, and leads
 * each connection to the server's container. What the two say to each other is theirs, and encrypted by themselves.
 */
import { connect, type Socket } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { once } from "node:events";
import { BRIDGE_REACHED, type BridgePeer } from "@resontech/contracts/agent-protocol";
import type { Logger } from "pino";
import {
  type BridgeIdentity,
  BRIDGE_SETUP_MS,
  certificateSha256,
  KEEP_ALIVE,
  MAX_BRIDGE_CONNECTIONS,
} from "./bridge-identity.ts";
import { Refusals } from "./refusals.ts";
import { splice } from "./splice.ts";

/** Peers of one address that have yet to say who they are. */
const MAX_STRANGERS = 64;

export type Endpoint = { host: string; port: number };

export type ServerBridgeParts = {
  attempt: string;
  listen: Endpoint;
  /** The server, in its container. */
  target: Endpoint;
  /**
   * The gateway of the job's network, whence the server is dialled. It exists once a container runs; before that the host would look for the
   * server's address beyond its own default route.
   */
  gateway: string;
  peers: readonly BridgePeer[];
  identity: BridgeIdentity;
  log: Logger;
};

export class ServerBridge {
  readonly #parts: ServerBridgeParts;
  readonly #server: Server;
  readonly #refusals: Refusals;
  readonly #strangers = new Map<Socket, string>();
  /** Connections of admitted nodes, by the certificate that admitted them. */
  readonly #connections = new Map<TLSSocket, string>();
  #admitted = new Set<string>();

  private constructor(parts: ServerBridgeParts) {
    const { attempt, identity, log, peers } = parts;
    this.#parts = parts;
    this.#refusals = new Refusals(log, { attempt });
    this.admit(peers);
    this.#server = createServer({
      cert: identity.certPem,
      key: identity.keyPem,
      ca: identity.rootCertPem,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: "TLSv1.3",
      handshakeTimeout: BRIDGE_SETUP_MS,
      ...KEEP_ALIVE,
    });
    this.#server.on("connection", (socket: Socket) => this.#greet(socket));
    this.#server.on("tlsClientError", (error, socket) => {
      const { code, message } = error as NodeJS.ErrnoException;
      this.#refusals.note(code ?? message, { address: socket.remoteAddress });
    });
    this.#server.on("secureConnection", (socket) => this.#take(socket));
  }

  /** @throws an `EADDRINUSE` of the system when somebody else has the port */
  static async listen(parts: ServerBridgeParts): Promise<ServerBridge> {
    const bridge = new ServerBridge(parts);
    bridge.#server.listen({ ...parts.listen, exclusive: true });
    await once(bridge.#server, "listening");
    bridge.#server.on("error", (error) =>
      parts.log.error({ err: error, attempt: parts.attempt }, "a job's bridge is in trouble"),
    );
    parts.log.info({ attempt: parts.attempt, port: parts.listen.port }, "a job's bridge listens");
    return bridge;
  }

  /** From here on these nodes and no others; connections of any other are cut. */
  admit(peers: readonly BridgePeer[]): void {
    this.#admitted = new Set(peers.map(({ certificateSha256 }) => certificateSha256));
    for (const [socket, certificate] of this.#connections)
      if (!this.#admitted.has(certificate)) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of [...this.#strangers.keys(), ...this.#connections.keys()]) socket.destroy();
    await closed;
  }

  /** Strangers may take some of our memory, never all of it. */
  #greet(socket: Socket): void {
    const address = socket.remoteAddress ?? "";
    const waiting = [...this.#strangers.values()].filter((other) => other === address).length;
    if (waiting >= MAX_STRANGERS) {
      this.#refusals.note("too_many_handshakes", { address });
      socket.destroy();
      return;
    }
    this.#strangers.set(socket, address);
    socket.once("close", () => this.#strangers.delete(socket));
  }

  #take(socket: TLSSocket): void {
    for (const stranger of this.#strangers.keys())
      if (
        stranger.remoteAddress === socket.remoteAddress &&
        stranger.remotePort === socket.remotePort
      )
        this.#strangers.delete(stranger);
    // Only from here on: a stranger that ends its side is gone.
    socket.allowHalfOpen = true;
    // Without a listener a peer that hangs up would end this process.
    socket.on("error", () => undefined);
    const certificate = certificateSha256(socket) ?? "";
    const why = !this.#admitted.has(certificate)
      ? "not_of_this_attempt"
      : this.#connections.size >= MAX_BRIDGE_CONNECTIONS
        ? "too_many_connections"
        : null;
    if (why !== null) {
      const node = socket.getPeerX509Certificate()?.subject;
      this.#refusals.note(why, { address: socket.remoteAddress, node });
      socket.destroy();
      return;
    }
    this.#connections.set(socket, certificate);
    socket.once("close", () => this.#connections.delete(socket));
    this.#lead(socket);
  }

  #lead(socket: TLSSocket): void {
    const { target, gateway } = this.#parts;
    const inside = connect({
      ...target,
      localAddress: gateway,
      allowHalfOpen: true,
      ...KEEP_ALIVE,
    });
    // A network that is not there yet, or a server that does not listen yet: the other agent tries again.
    inside.once("error", (error: NodeJS.ErrnoException) => {
      const { attempt, log } = this.#parts;
      log.debug(
        { attempt, why: error.code ?? error.message },
        "a job's server does not answer in its container",
      );
      socket.destroy();
    });
    const late = setTimeout(
      () => inside.destroy(new Error("the server's container does not answer")),
      BRIDGE_SETUP_MS,
    );
    inside.once("close", () => clearTimeout(late));
    socket.once("close", () => inside.connecting && inside.destroy());
    inside.once("connect", () => {
      clearTimeout(late);
      if (socket.destroyed) {
        inside.destroy();
        return;
      }
      socket.write(Uint8Array.of(BRIDGE_REACHED));
      splice(socket, inside);
    });
  }
}
