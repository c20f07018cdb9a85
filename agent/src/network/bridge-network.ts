/** Members on one node: an internal bridge, closed towards the host as well. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type Docker from "dockerode";
import { statusOf } from "../containers/engine-error.ts";
import { chooseSubnet, memberAddress, parseNet, parseRoutes } from "../decisions/job-subnet.ts";
import { Turns } from "../turns.ts";
import { Firewall } from "./firewall.ts";
import { type Attachment, type JobNetwork, NetworkNotClosedError, type Place } from "./job-network.ts";

const LABELS = { instance: "tech.reson.instance", attempt: "tech.reson.attempt" } as const;

export class BridgeNetwork implements JobNetwork {
  readonly #engine: Docker;
  readonly #instance: string;
  readonly #firewall: Firewall;
  /** The firewall is loaded whole, for all networks there are: one change at a time. */
  readonly #turns = new Turns();

  constructor(engine: Docker, instance: string) {
    this.#engine = engine;
    this.#instance = instance;
    this.#firewall = new Firewall(instance);
  }

  create(attempt: string): Promise<void> {
    return this.#turns.take(async () => {
      const attempts = await this.attempts();
      // The rules first: no container of this bridge ever runs without them.
      await this.#firewall.load([...new Set([...attempts, attempt])]);
      if (!attempts.includes(attempt)) await this.#createNetwork(attempt);
    });
  }

  async connect({ attempt, index, serverName }: Place): Promise<Attachment> {
    const found = await this.#inspect(attempt);
    const subnet = found?.IPAM?.Config?.[0]?.["Subnet"] ?? "";
    const [address, server] = [memberAddress(subnet, index), memberAddress(subnet, null)];
    if (address === null || server === null)
      throw new Error(`the network ${subnet} of ${attempt} has no address for this member`);
    return { network: this.#name(attempt), address, hosts: [{ name: serverName, address: server }] };
  }

  async prove(attempt: string, pid?: number): Promise<void> {
    const network = await this.#inspect(attempt);
    if (network === null || !network.Internal) throw new NetworkNotClosedError(`the network of ${attempt} is not internal`);
    if (!(await this.#firewall.covers(attempt)))
      throw new NetworkNotClosedError(`the host is not closed to the network of ${attempt}`);
    if (pid === undefined) return;
    const own = parseNet(network.IPAM?.Config?.[0]?.["Subnet"] ?? "");
    const routes = routesOf(pid);
    const isClosed = parseRoutes(routes).every(({ base, prefix }) => base === own?.base && prefix === own.prefix);
    if (!isClosed || /^\w+\t00000000\t/m.test(routes)) throw new NetworkNotClosedError(`a container of ${attempt} has a way out`);
  }

  remove(attempt: string): Promise<boolean> {
    return this.#turns.take(async () => {
      try {
        await this.#engine.getNetwork(this.#name(attempt)).remove();
      } catch (error) {
        // In use by another member of the attempt: whoever leaves last removes it.
        if (statusOf(error) !== 404) return false;
      }
      const left = await this.attempts();
      await (left.length === 0 ? this.#firewall.unload() : this.#firewall.load(left));
      return true;
    });
  }

  async attempts(): Promise<string[]> {
    const networks = await this.#engine.listNetworks({ filters: { label: [`${LABELS.instance}=${this.#instance}`] } });
    return networks.map(({ Labels }) => Labels?.[LABELS.attempt] ?? "").filter((attempt) => attempt !== "");
  }

  async #createNetwork(attempt: string): Promise<void> {
    const name = this.#name(attempt);
    const known = await this.#engine.listNetworks();
    const subnets = known.flatMap(({ IPAM }) => IPAM?.Config ?? []).map((config) => parseNet(config["Subnet"] ?? ""));
    const taken = [...parseRoutes(readFileSync("/proc/net/route", "utf8")), ...subnets.filter((net) => net !== null)];
    const seed = createHash("sha256").update(name).digest().readUInt16BE();
    const subnet = chooseSubnet(seed, taken);
    if (subnet === null) throw new Error("no subnet is free for another job network");
    await this.#engine.createNetwork({
      Name: name,
      Driver: "bridge",
      Internal: true,
      IPAM: { Driver: "default", Config: [{ Subnet: subnet }] },
      Options: { "com.docker.network.bridge.name": this.#firewall.bridge(attempt) },
      Labels: { [LABELS.instance]: this.#instance, [LABELS.attempt]: attempt },
    });
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

/** Empty for a process that has ended: what is gone has no way out. */
function routesOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/net/route`, "utf8");
  } catch {
    return "";
  }
}
