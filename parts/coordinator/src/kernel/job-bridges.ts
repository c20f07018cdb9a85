import type { BridgePeer, MemberBridge } from "@resontech/contracts/agent-protocol";
import type { WriteHandle } from "../db/open-database.ts";
import { mayMemberWrite } from "./decisions/member-machine.ts";
import type { AttemptRow, MemberRow, NodeRow } from "./rows.ts";

type PortRow = { bridge_node: string; bridge_port: number };

/** Ports of the nodes' agents that lead to servers, and who may use them. */
export class JobBridges {
  readonly #gateway: BridgePeer | null;
  readonly #used;
  readonly #node;
  readonly #home;

  /** @param gateway who reaches leads from beside the coordinator; null where nobody does */
  constructor(db: WriteHandle, gateway: BridgePeer | null = null) {
    this.#gateway = gateway;
    // An agent gives the port back with its server, which may be later than the attempt's end.
    this.#used = db.prepare<[], PortRow>(
      `SELECT bridge_node, bridge_port FROM attempts WHERE ended_at IS NULL AND bridge_port IS NOT NULL
       UNION SELECT bridge_node, bridge_port FROM members JOIN attempts ON attempts.id = attempt_id
       WHERE is_lead = 1 AND state NOT IN ('RELEASED', 'QUARANTINED') AND bridge_port IS NOT NULL`,
    );
    this.#node = db.prepare<[string], NodeRow>("SELECT * FROM nodes WHERE id = ?");
    this.#home = db
      .prepare<[string], string | null>("SELECT bridge_node FROM attempts WHERE id = ?")
      .pluck();
  }

  /** By node. @returns how many more attempts it can serve to other nodes, and how many that only the gateway dials */
  portsLeft(nodes: readonly NodeRow[]): Record<"freePorts" | "gatewayPorts", Map<string, number>> {
    const used = new Map<string, number>();
    for (const { bridge_node: node } of this.#used.all()) used.set(node, (used.get(node) ?? 0) + 1);
    const [freePorts, gatewayPorts] = [new Map<string, number>(), new Map<string, number>()];
    for (const node of nodes) {
      const left = Math.max(0, portCount(node) - (used.get(node.id) ?? 0));
      gatewayPorts.set(node.id, left);
      freePorts.set(node.id, isReachedByNodes(node) ? left : 0);
    }
    return { freePorts, gatewayPorts };
  }

  /**
   * The lowest port of the node that no attempt uses; null when there is none.
   * @param reach who dials: the gateway stands beside a node that has a loopback address
   */
  freePort(node: NodeRow, reach: "nodes" | "gateway"): number | null {
    if (reach === "nodes" && !isReachedByNodes(node)) return null;
    const used = new Set(
      this.#used.all().flatMap((row) => (row.bridge_node === node.id ? [row.bridge_port] : [])),
    );
    const from = node.bridge_port_from ?? 0;
    for (let port = from; port < from + portCount(node); port++) if (!used.has(port)) return port;
    return null;
  }

  /** What a member's agent must know; null for one that needs no bridge. */
  of(
    member: MemberRow,
    attempt: AttemptRow,
    all: readonly MemberRow[],
    isReached: boolean,
  ): MemberBridge | null {
    const { bridge_node: home, bridge_port: port } = attempt;
    if (home === null || port === null) return null;
    if (member.is_lead === 1) {
      // A node whose members may no longer write has nothing more to say to the server.
      const guests = all
        .filter(({ node_id, state }) => node_id !== home && mayMemberWrite(state))
        .map(({ node_id }) => node_id);
      const peers = [...new Set(guests)].sort().map((node) => this.#peer(node));
      if (isReached && this.#gateway !== null) peers.push(this.#gateway);
      return { kind: "listen", port, peers };
    }
    const host = this.#node.get(home)?.bridge_address ?? null;
    return member.node_id === home || host === null
      ? null
      : { kind: "dial", host, port, peer: this.#peer(home) };
  }

  /** The node whose agent lets the member's node through to its server; null when that is its own, or there is no bridge. */
  homeOf(member: MemberRow): string | null {
    const home = this.#home.get(member.attempt_id) ?? null;
    return home === member.node_id ? null : home;
  }

  #peer(node: string): BridgePeer {
    return { node, certificateSha256: this.#node.get(node)!.certificate_sha256 };
  }
}

/** A loopback address is nowhere to another host. */
function isReachedByNodes({ bridge_address: address }: NodeRow): boolean {
  return address !== null && !address.startsWith("127.");
}

function portCount({
  bridge_address,
  bridge_port_from: from,
  bridge_port_to: to,
}: NodeRow): number {
  return bridge_address === null || from === null || to === null ? 0 : Math.max(0, to - from + 1);
}
