/**
 * An internal bridge for the members of one node, closed towards the host as well; between nodes the agents are the only way, one TLS
 * connection for each of a client's.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { Turns } from "@resontech/frame/turns";
import type Docker from "dockerode";
import type { Logger } from "pino";
import { statusOf } from "../engine-error.ts";
import { retryOnVanished } from "../engine-retry.ts";
import {
  chooseSubnet,
  gatewayAddress,
  memberAddress,
  parseNet,
  parseRoutes,
} from "../decisions/job-subnet.ts";
import { NetworkNotClosedError } from "../../substrate-errors.ts";
import type { BridgeIdentity } from "./bridge-identity.ts";
import { ClientBridge } from "./client-bridge.ts";
import { Firewall, type Guarded, type Opening } from "./firewall.ts";
import type { Attachment, JobNetwork, Place } from "./job-network.ts";
import { ServerBridge } from "./server-bridge.ts";

const LABELS = { instance: "tech.reson.instance", attempt: "tech.reson.attempt" } as const;

export type BridgeNetworkParts = {
  engine: Docker;
  instance: string;
  /** Of this node, where its servers' bridges listen. */
  address: string;
  identity: BridgeIdentity;
  log: Logger;
};

/** One side of an attempt's way to other nodes, with the members that need it. */
type Bridge = { side: ServerBridge | ClientBridge; opening: Opening; members: Set<string> };

export class BridgeNetwork implements JobNetwork {
  readonly #parts: BridgeNetworkParts;
  readonly #engine: Docker;
  readonly #instance: string;
  readonly #firewall: Firewall;
  readonly #bridges = new Map<string, Bridge>();
  /** The firewall is loaded whole, for all networks there are: one change at a time. */
  readonly #turns = new Turns();

  constructor(parts: BridgeNetworkParts) {
    this.#parts = parts;
    this.#engine = parts.engine;
    this.#instance = parts.instance;
    this.#firewall = new Firewall(parts.instance);
  }

  create(attempt: string): Promise<void> {
    return this.#turns.run(async () => {
      const attempts = await this.attempts();
      // The rules first: no container of this bridge ever runs without them.
      await this.#guard([...new Set([...attempts, attempt])]);
      if (!attempts.includes(attempt)) await this.#createNetwork(attempt);
    });
  }

  async connect(place: Place): Promise<Attachment> {
    const { attempt, network, bridge } = place;
    const index = network.shape === "hub" ? network.index : null;
    const found = await this.#inspect(attempt);
    const subnet = found?.IPAM?.Config?.[0]?.["Subnet"] ?? "";
    const [address, server, gateway] = [
      memberAddress(subnet, index),
      memberAddress(subnet, null),
      gatewayAddress(subnet),
    ];
    if (address === null || server === null || gateway === null)
      throw new Error(`the network ${subnet} of ${attempt} has no address for this member`);
    if (bridge !== null)
      await this.#turns.run(() => this.#cross(place, { subnet, server, gateway }));
    const hub = bridge?.kind === "dial" ? gateway : server;
    const hosts = network.shape === "hub" ? [{ name: network.name, address: hub }] : [];
    return { network: this.#name(attempt), address, hosts };
  }

  async disconnect(attempt: string, member: string): Promise<void> {
    const bridge = this.#bridges.get(attempt);
    if (bridge === undefined || !bridge.members.delete(member) || bridge.members.size > 0) return;
    this.#bridges.delete(attempt);
    // At once: what waits for its turn may wait for the engine.
    const closing = bridge.side.close();
    await this.#turns.run(async () => {
      await closing;
      await this.#guard(await this.attempts());
    });
  }

  async prove(attempt: string, pid?: number): Promise<void> {
    const network = await this.#inspect(attempt);
    if (network === null || !network.Internal)
      throw new NetworkNotClosedError(`the network of ${attempt} is not internal`);
    if (!(await this.#turns.run(() => this.#firewall.covers(this.#guarded(attempt)))))
      throw new NetworkNotClosedError(`the host is not closed to the network of ${attempt}`);
    if (pid === undefined) return;
    const own = parseNet(network.IPAM?.Config?.[0]?.["Subnet"] ?? "");
    const routes = routesOf(pid);
    const isClosed = parseRoutes(routes).every(
      ({ base, prefix }) => base === own?.base && prefix === own.prefix,
    );
    if (!isClosed || /^\w+\t00000000\t/m.test(routes))
      throw new NetworkNotClosedError(`a container of ${attempt} has a way out`);
  }

  remove(attempt: string): Promise<boolean> {
    return this.#turns.run(async () => {
      try {
        await this.#engine.getNetwork(this.#name(attempt)).remove();
      } catch (error) {
        // In use by another member of the attempt: whoever leaves last removes it.
        if (statusOf(error) !== 404) return false;
      }
      await this.#guard(await this.attempts());
      return true;
    });
  }

  seal(): Promise<void> {
    return this.#turns.run(async () => this.#guard(await this.attempts()));
  }

  /** Without the engine, which may be away for longer than the host may be open. */
  keepClosed(): Promise<boolean> {
    return this.#firewall.keep();
  }

  async attempts(): Promise<string[]> {
    const networks = await this.#engine.listNetworks({
      filters: { label: [`${LABELS.instance}=${this.#instance}`] },
    });
    return networks
      .map(({ Labels }) => Labels?.[LABELS.attempt] ?? "")
      .filter((attempt) => attempt !== "");
  }

  async #guard(attempts: readonly string[]): Promise<void> {
    if (attempts.length === 0) await this.#firewall.unload();
    else await this.#firewall.load(attempts.map((attempt) => this.#guarded(attempt)));
  }

  #guarded(attempt: string): Guarded {
    const opening = this.#bridges.get(attempt)?.opening;
    return { attempt, openings: opening === undefined ? [] : [opening] };
  }

  /** Begins the member's side of the bridge, or follows what has changed about it. */
  async #cross(
    { attempt, member, network, bridge }: Place,
    { subnet, server, gateway }: { subnet: string; server: string; gateway: string },
  ): Promise<void> {
    const known = this.#bridges.get(attempt);
    if (known !== undefined) {
      known.members.add(member);
      if (known.side instanceof ServerBridge && bridge?.kind === "listen")
        known.side.admit(bridge.peers);
      if (known.side instanceof ClientBridge && bridge?.kind === "dial") known.side.lead(bridge);
      return;
    }
    const { address, identity, log } = this.#parts;
    if (bridge?.kind === "listen" && network.shape === "hub") {
      const [listen, target] = [
        { host: address, port: bridge.port },
        { host: server, port: network.port },
      ];
      const side = await ServerBridge.listen({
        attempt,
        listen,
        target,
        gateway,
        peers: bridge.peers,
        identity,
        log,
      });
      const opening = { kind: "server", address: server, port: network.port } as const;
      this.#bridges.set(attempt, { side, opening, members: new Set([member]) });
    } else if (bridge?.kind === "dial") {
      const listen = { host: gateway, port: bridge.port };
      const side = new ClientBridge({ attempt, listen, subnet, far: bridge, identity, log });
      const opening = { kind: "gateway", address: gateway, port: bridge.port } as const;
      this.#bridges.set(attempt, { side, opening, members: new Set([member]) });
    }
    await this.#guard([...new Set([...(await this.attempts()), attempt])]);
  }

  async #createNetwork(attempt: string): Promise<void> {
    const name = this.#name(attempt);
    const known = await this.#engine.listNetworks();
    const subnets = known
      .flatMap(({ IPAM }) => IPAM?.Config ?? [])
      .map((config) => parseNet(config["Subnet"] ?? ""));
    const taken = [
      ...parseRoutes(readFileSync("/proc/net/route", "utf8")),
      ...subnets.filter((net) => net !== null),
    ];
    const seed = createHash("sha256").update(name).digest().readUInt16BE();
    const subnet = chooseSubnet(seed, taken);
    if (subnet === null) throw new Error("no subnet is free for another job network");
    const wanted = {
      Name: name,
      Driver: "bridge",
      Internal: true,
      IPAM: { Driver: "default", Config: [{ Subnet: subnet }] },
      Options: { "com.docker.network.bridge.name": this.#firewall.bridge(attempt) },
      Labels: { [LABELS.instance]: this.#instance, [LABELS.attempt]: attempt },
    };
    await retryOnVanished(() => this.#engine.createNetwork(wanted));
  }

  #name(attempt: string): string {
    return `rt-${this.#instance}-${attempt}`;
  }

  async #inspect(attempt: string): Promise<Docker.NetworkInspectInfo | null> {
    try {
      return await this.#engine.getNetwork(this.#name(attempt)).inspect();
    } catch (error) {
      if (statusOf(error) === 404) return null;
      throw error;
    }
  }
}

/** Reads the routes of a process; empty for one that has ended: what is gone has no way out. */
function routesOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/net/route`, "utf8");
  } catch {
    return "";
  }
}
