/**
 * A training of several ranks over several nodes, for the Python of parts/agent/runners/resontech_distributed: `/rt/job/spec.json` of each member.
 *
 * A container reaches its attempt's hub and nobody else. So all ranks know one another as 127.0.0.1, and each member's processes listen on ports of a
 * range of its own. The runner listens on all ports of the others, and leads each connection to its member over the hub.
 */

export const DISTRIBUTE_COMMAND = ["python3", "-u", "/rt/runner/distribute.py"] as const;

/** Ports of the first member's processes, and how many each member has. The first few are chosen by us, for torchrun's master. */
export const RANK_PORTS = { first: 20_000, each: 512, reserved: 8 } as const;

/** Of members with ranks: all connections between ranks of two nodes pass one bridge, which takes 256. */
export const MOST_RANK_MEMBERS = 16;

/** How the ranks share the work. */
export const STRATEGIES = ["ddp", "fsdp"] as const;
export type Strategy = (typeof STRATEGIES)[number];

export type DistributedSpec = {
  formatVersion: 1;
  /** What people call the member. */
  site: string;
  /** Null: the meeting point, which has no ranks. */
  index: number | null;
  /** With ranks. */
  members: number;
  ranksEach: number;
  serverName: string;
  serverPort: number;
  ports: { first: number; each: number };
  /** In the container. */
  script: string;
  arguments: string[];
  /** The step that was committed last, whose file the meeting point has; null begins anew. */
  resumesAfter: number | null;
};

/** Where the processes of a member are given ports: none of those that are chosen for them. */
export function ownPortsOf(index: number): { from: number; to: number } {
  const start = RANK_PORTS.first + index * RANK_PORTS.each;
  return { from: start + RANK_PORTS.reserved, to: start + RANK_PORTS.each - 1 };
}
