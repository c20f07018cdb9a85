/** How the members of an attempt reach one another and nobody else. Collectives and several nodes have implementations of their own. */
import type Docker from "dockerode";
import { createHash } from "node:crypto";
import { Firewall } from "./firewall.ts";

export type NetworkAttachment = { network: string; aliases: string[] };

export type JobNetwork = {
  /** Makes the attempt's network; safe to repeat. */
  create(attempt: string): Promise<void>;
  /** What a container of the attempt is attached to; the server answers to `serverName`. */
  connect(attempt: string, role: "server" | "client", serverName: string): NetworkAttachment;
  /** Throws unless the network has no way out and the host is closed to it. */
  prove(attempt: string): Promise<void>;
  /** Removes it once no container is attached; true when it is gone. */
  remove(attempt: string): Promise<boolean>;
};

/** The attempt's network has a way out. */
export class NetworkNotClosedError extends Error {
  readonly code = "network_not_closed";
}

/** Members on one node: an internal bridge without a gateway to anywhere, closed towards the host as well. */
export class BridgeJobNetwork implements JobNetwork {
  readonly #engine: Docker;
  readonly #instance: string;
  readonly #firewall: Firewall;

  constructor(engine: Docker, instance: string) {
    this.#engine = engine;
    this.#instance = instance;
    this.#firewall = new Firewall(instance);
  }

  async create(attempt: string): Promise<void> {
    await this.#firewall.ensure();
    const name = this.#name(attempt);
    if ((await this.#inspect(name)) !== null) return;
    await this.#engine.createNetwork({
      Name: name,
      Driver: "bridge",
      Internal: true,
      Options: { "com.docker.network.bridge.name": this.#bridge(attempt) },
      Labels: { "tech.reson.instance": this.#instance, "tech.reson.attempt": attempt },
    });
  }

  connect(attempt: string, role: "server" | "client", serverName: string): NetworkAttachment {
    return { network: this.#name(attempt), aliases: role === "server" ? [serverName] : [] };
  }

  async prove(attempt: string): Promise<void> {
    const network = await this.#inspect(this.#name(attempt));
    if (network === null || !network.Internal)
      throw new NetworkNotClosedError(`the network of attempt ${attempt} is not internal`);
    await this.#firewall.prove();
  }

  async remove(attempt: string): Promise<boolean> {
    try {
      await this.#engine.getNetwork(this.#name(attempt)).remove();
    } catch (error) {
      const status = error instanceof Error && "statusCode" in error ? error.statusCode : 0;
      // 403, 409, 500 "in use": another member of the attempt is still on it.
      if (status !== 404) return false;
    }
    return true;
  }

  #name(attempt: string): string {
    return `rt-${this.#instance}-${attempt}`;
  }

  /** At most 15 characters, with the prefix that the firewall knows this instance by. */
  #bridge(attempt: string): string {
    return `${this.#firewall.bridgePrefix}${createHash("sha256").update(attempt).digest("hex").slice(0, 8)}`;
  }

  async #inspect(name: string): Promise<{ Internal: boolean } | null> {
    try {
      return await this.#engine.getNetwork(name).inspect();
    } catch (error) {
      if (error instanceof Error && "statusCode" in error && error.statusCode === 404) return null;
      throw error;
    }
  }
}
