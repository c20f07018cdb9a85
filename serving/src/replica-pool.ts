/** How many calls each replica has under way, and the connections that are kept to it. */
import { Agent, type ClientRequest, request as httpRequest, type RequestOptions } from "node:http";
import type { Duplex } from "node:stream";
import { dialReplica, type Identity, type Replica } from "./dial-replica.ts";
import type { Route } from "@resontech/contracts/inference-routes";

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

type Held = { agent: BridgedAgent; underWay: number };

export class ReplicaPool implements Disposable {
  readonly #identity: Identity;
  readonly #held = new Map<string, Held>();

  constructor(identity: Identity) {
    this.#identity = identity;
  }

  /** The replica with the fewest calls under way, held until {@link release}; null where each has as many as it takes. */
  acquire({ replicas, maxOngoingRequests }: Route): Replica | null {
    const free = replicas
      .map((replica) => ({ replica, held: this.#of(replica) }))
      .filter(({ held }) => held.underWay < maxOngoingRequests)
      .sort((a, b) => a.held.underWay - b.held.underWay)[0];
    if (free === undefined) return null;
    free.held.underWay += 1;
    return free.replica;
  }

  release(replica: Replica): void {
    const held = this.#held.get(keyOf(replica));
    if (held !== undefined) held.underWay -= 1;
  }

  request(replica: Replica, options: RequestOptions): ClientRequest {
    return httpRequest({ ...options, agent: this.#of(replica).agent });
  }

  [Symbol.dispose](): void {
    for (const { agent } of this.#held.values()) agent.destroy();
  }

  #of(replica: Replica): Held {
    const key = keyOf(replica);
    let held = this.#held.get(key);
    if (held === undefined) {
      held = {
        agent: new BridgedAgent(() => dialReplica(replica, this.#identity)),
        underWay: 0,
      };
      this.#held.set(key, held);
    }
    return held;
  }
}

function keyOf({ member, host, port }: Replica): string {
  return `${member} ${host} ${port}`;
}
