/**
 * The clients' side of a bridge: listens on the gateway of their network, where they find the server by its name, and leads each connection
 * to the agent of the server's node. It listens only once the server has been reached, so that a client can tell by a refused connection
 * that there is none yet, as it could beside it.
 */
import { createServer, type Server, type Socket } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { BRIDGE_REACHED, type BridgePeer } from "@resontech/contracts/agent-protocol";
import type { Logger } from "pino";
import { isContainerAddress } from "../decisions/job-subnet.ts";
import {
  type BridgeIdentity,
  BRIDGE_SETUP_MS,
  certificateSha256,
  KEEP_ALIVE,
  MAX_BRIDGE_CONNECTIONS,
} from "./bridge-identity.ts";
import { Refusals } from "./refusals.ts";
import type { Endpoint } from "./server-bridge.ts";
import { breakOff, splice } from "./splice.ts";

const RETRY_MS = 200;

/** The agent of the server's node. */
export type FarEnd = Endpoint & { peer: BridgePeer };

export type ClientBridgeParts = {
  attempt: string;
  /** The gateway of the attempt's network; it exists once a container of the attempt runs. */
  listen: Endpoint;
  /** Of the attempt. A host has its addresses at each of its interfaces: whoever routes there reaches the gateway too. */
  subnet: string;
  far: FarEnd;
  identity: BridgeIdentity;
  log: Logger;
};

export class ClientBridge {
  readonly #parts: ClientBridgeParts;
  readonly #refusals: Refusals;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #closing = new AbortController();
  readonly #begun: Promise<void>;
  #far: FarEnd;

  constructor(parts: ClientBridgeParts) {
    this.#parts = parts;
    this.#far = parts.far;
    this.#refusals = new Refusals(parts.log, { attempt: parts.attempt });
    this.#server = createServer(
      { allowHalfOpen: true, pauseOnConnect: true, ...KEEP_ALIVE },
      (socket) => this.#take(socket),
    );
    this.#begun = this.#begin();
  }

  /** Where the server is from here on; connections that there are stay. */
  lead(far: FarEnd): void {
    this.#far = far;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const socket of this.#sockets) socket.destroy();
    await this.#begun;
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    await closed;
  }

  async #begin(): Promise<void> {
    const { attempt, listen, log } = this.#parts;
    for (let isReached = false; !this.#closing.signal.aborted; await this.#pause()) {
      try {
        if (!isReached) (await this.#dial()).destroy();
        isReached = true;
        await this.#listen();
        log.info(
          { attempt, ...listen, server: this.#far.peer.node },
          "a job's server is reached on another node",
        );
        return;
      } catch (error) {
        // The gateway comes with the first container of the attempt.
        const { code, message } = error as NodeJS.ErrnoException;
        if (code === "EADDRINUSE") this.#refusals.note(code, listen);
        else if (code !== "EADDRNOTAVAIL")
          log.debug({ attempt, why: code ?? message }, "a job's server is not reached yet");
      }
    }
  }

  async #listen(): Promise<void> {
    this.#server.listen({ ...this.#parts.listen, exclusive: true });
    await once(this.#server, "listening");
    this.#server.on("error", (error) =>
      this.#parts.log.error(
        { err: error, attempt: this.#parts.attempt },
        "a job's bridge is in trouble",
      ),
    );
    if (this.#closing.signal.aborted) this.#server.close();
  }

  async #pause(): Promise<void> {
    await sleep(RETRY_MS, undefined, { signal: this.#closing.signal }).catch(() => undefined);
  }

  #take(socket: Socket): void {
    socket.on("error", () => undefined);
    const address = socket.remoteAddress ?? "";
    const why = !isContainerAddress(this.#parts.subnet, address)
      ? "not_of_this_network"
      : this.#sockets.size >= MAX_BRIDGE_CONNECTIONS
        ? "too_many_connections"
        : null;
    if (why !== null) {
      this.#refusals.note(why, { address });
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    this.#dial(socket).then(
      (far) => splice(socket, far),
      (error: unknown) => {
        const { code, message } = error as NodeJS.ErrnoException;
        this.#parts.log.debug(
          { attempt: this.#parts.attempt, why: code ?? message },
          "a job's server is not reached",
        );
        breakOff(socket);
      },
    );
  }

  /**
   * A connection to the server's container, all the way.
   * @param near its end ends this one too
   */
  async #dial(near?: Socket): Promise<TLSSocket> {
    const { identity } = this.#parts;
    const { host, port, peer } = this.#far;
    const far = connect({
      ...{ host, port, servername: peer.node, minVersion: "TLSv1.3", allowHalfOpen: true },
      ...{ cert: identity.certPem, key: identity.keyPem, ca: identity.rootCertPem },
    });
    // TLS takes these not as options.
    far.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE.keepAliveInitialDelay);
    const giveUp = (why: string) => (): void => void far.destroy(new Error(why));
    const late = setTimeout(giveUp("the server's agent did not answer in time"), BRIDGE_SETUP_MS);
    const onClosing = giveUp("the bridge is closed");
    near?.once("close", onClosing);
    this.#closing.signal.addEventListener("abort", onClosing, { once: true });
    try {
      return await new Promise((resolve, reject) => {
        far.on("error", reject);
        far.once("close", () => reject(new Error("the server's agent hung up")));
        far.once("secureConnect", () => {
          if (certificateSha256(far) !== peer.certificateSha256)
            giveUp("the server's agent has another certificate")();
        });
        far.once("readable", () => {
          const first = far.read(1) as Buffer | null;
          if (first?.[0] === BRIDGE_REACHED) resolve(far);
          else giveUp("the server was not reached")();
        });
      });
    } finally {
      clearTimeout(late);
      near?.removeListener("close", onClosing);
      this.#closing.signal.removeEventListener("abort", onClosing);
    }
  }
}
