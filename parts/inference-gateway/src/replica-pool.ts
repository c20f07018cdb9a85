/** Connections to replicas. How many calls each has is the admission's to say. */
import { Agent, type ClientRequest, request as httpRequest, type RequestOptions } from "node:http";
import type { Duplex } from "node:stream";
import type { Replica } from "./admission.ts";
import { dialReplica, type Identity } from "./dial-replica.ts";

const IDLE_MS = 4_000;

/** Keeps connections, and makes each by the agent's bridge. */
class BridgedAgent extends Agent {
  readonly #dial: () => Promise<Duplex>;

  constructor(dial: () => Promise<Duplex>) {
    super({ keepAlive: true, timeout: IDLE_MS, scheduling: "lifo" });
    this.#dial = dial;
  }

  override createConnection(
    _options: object,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    void this.#connect(callback);
    return undefined;
  }

  async #connect(
    callback: ((error: Error | null, stream: Duplex) => void) | undefined,
  ): Promise<void> {
    try {
      callback?.(null, await this.#dial());
    } catch (error) {
      callback?.(error as Error, undefined as unknown as Duplex);
    }
  }
}

export class ReplicaPool implements Disposable {
  readonly #identity: Identity;
  readonly #agents = new Map<string, BridgedAgent>();

  constructor(identity: Identity) {
    this.#identity = identity;
  }

  request(replica: Replica, options: RequestOptions): ClientRequest {
    return httpRequest({ ...options, agent: this.#of(replica) });
  }

  /** Replicas come and go: those that are not among these any more keep the connections that calls use, and no others. */
  keep(replicas: readonly Replica[]): void {
    const kept = new Set(replicas.map(keyOf));
    for (const [key, agent] of this.#agents)
      if (!kept.has(key)) {
        this.#agents.delete(key);
        closeIdle(agent);
      }
  }

  [Symbol.dispose](): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  #of(replica: Replica): BridgedAgent {
    const key = keyOf(replica);
    let agent = this.#agents.get(key);
    if (agent === undefined) {
      agent = new BridgedAgent(() => dialReplica(replica, this.#identity));
      this.#agents.set(key, agent);
    }
    return agent;
  }
}

/** What a call uses ends with the call: nobody asks this agent again, and idle connections end by themselves. */
function closeIdle({ freeSockets }: Agent): void {
  for (const sockets of Object.values(freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}

function keyOf({ member, host, port }: Replica): string {
  return `${member} ${host} ${port}`;
}
