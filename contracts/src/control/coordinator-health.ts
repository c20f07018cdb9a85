/** How the coordinator does, as its control socket tells the `appliance` command. Times in milliseconds. */
import type { DeviceUse } from "../agent/agent-protocol.ts";
import type { NodeState } from "../agent/node-states.ts";

export type NodeHealth = {
  node: string;
  state: NodeState;
  /** Since its last beat; null when it was not heard since the coordinator started. */
  silentMs: number | null;
  loopLagMs: number | null;
  diskFreeBytes: number | null;
  /** Whether that is enough to be given work. */
  hasDisk: boolean;
  /** Why it takes no new work; null when it does. */
  cordonReason: string | null;
  quarantined: { worker: string; reason: string }[];
  /** Why its agent may not register, with what to do; absent when it may. */
  refused?: string;
  /** Workers that the node's agent does not take for well. */
  unhealthy?: { worker: string; reason: string; onTrial?: boolean }[];
  /** SHA-256 of who vouches there for the doors beside the root; absent from an agent that does not say. */
  trusts?: string;
  /** What its devices did at its last beat. */
  devices?: DeviceUse[];
};

export type CoordinatorHealth = {
  /** Longest that a turn of the event loop was late within the last minute. */
  loopLagMs: number;
  /** Why nobody is declared dead although somebody is silent; null = nobody is, or they would be. */
  brake: string | null;
  /** Leases live until then for a planned stop, RFC 3339; null outside of one. */
  plannedStopUntil: string | null;
  bus: "up" | "down";
  /** `loopLagMs`: auditd's own, null while it does not answer. `halted`: a record has no place in the log, no new work is taken; `draining`: the log's disk is nearly full, or it is far behind. */
  audit: {
    state: "ok" | "away" | "draining" | "halted";
    waiting: number;
    oldestWaitMs: number;
    loopLagMs: number | null;
  };
  /** Judged by a write. */
  database: "ok" | "full" | "failing";
  storage: "ok" | "unavailable";
  /** Living platform keys that end within so many days as a finding speaks of. */
  endingKeys: { key: string; username: string; expiresAt: string }[];
  /** The same of service accounts of projects; a release before does not tell. */
  endingAccounts?: { account: string; name: string; project: string; expiresAt: string }[];
  /** Somebody could approve what needs a second person. */
  hasApprover: boolean;
  /** Roles of the whole appliance that groups ask for, and who left their directory; a release before does not tell. */
  people?: {
    requested: { username: string; role: string }[];
    left: string[];
    /** Groups of a directory that would make an auditor a member of a project, and give nothing. */
    givenNothing?: { username: string; group: string; project: string }[];
    /** Administrators whom the host's root made and nobody has acknowledged. */
    restored?: { userId: string; username: string; restoredAt: string }[];
  };
  /** Service accounts that nobody answers for: each ends in seven days unless a lead adopts it. A release before does not tell. */
  orphanedAccounts?: {
    account: string;
    name: string;
    project: string;
    projectId: string;
    orphanedAt: string;
  }[];
  /** The last time that the wall clock was set, since the start. */
  clockStep: { stepMs: number; agoMs: number } | null;
  nodes: NodeHealth[];
  /** Nodes whose workers are others than their pool says, and guarantees that pools make impossible. A release before does not tell. */
  pools?: {
    unlike: { pool: string; node: string; shows: string[] }[];
    unkept: { model: string; shares: string[]; wanted: number; there: number }[];
  };
  /** Whether plans of the scheduler are recorded, or why not. A release before does not tell. */
  planRecords?: "ok" | "full" | "failing";
};
