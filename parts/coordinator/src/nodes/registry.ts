import {
  AGENT_PROTOCOL,
  type BeatReply,
  type BeatRequest,
  type RegisterReply,
  type RegisterRequest,
} from "@resontech/contracts/agent-protocol";
import { compareFences, type Fence } from "@resontech/contracts/fence";
import {
  agreedVersion,
  PROTOCOL_UNSUPPORTED,
  refusalText,
} from "@resontech/contracts/protocol-versions";
import type { NodeCaller } from "../authorization/caller.ts";
import { isAllowed } from "../authorization/demand.ts";
import type { Meta } from "../db/meta.ts";
import type { WriteHandle } from "../db/open-database.ts";
import type { KernelRecords } from "../kernel/kernel-records.ts";
import type { Clock } from "../kernel/clock.ts";
import { isMemberOver } from "../kernel/decisions/member-machine.ts";
import type { MemberRow, NodeRow } from "../kernel/rows.ts";
import type { KernelTables } from "../kernel/kernel-tables.ts";
import type { Transitions } from "../kernel/transitions.ts";
import { agentProtocolOf } from "../kernel/agent-protocol-of.ts";
import { AgentRefusal } from "../kernel/agent-refusal.ts";
import type { DeviceUses } from "../kernel/device-uses.ts";
import type { Heartbeats } from "../kernel/heartbeats.ts";
import type { ToldUses } from "../kernel/told-uses.ts";
import type { DoorTrust } from "./door-trust.ts";
import { leaseMsNow } from "./maintenance.ts";
import type { NodeTable } from "./node-table.ts";
import type { NodeUpgrades } from "./node-upgrades.ts";

const BEAT_INTERVAL_MS = 5_000;
/** Beats in a row without a member that the node was told to hold, before it counts as lost there. */
const MISSING_BEATS = 4;

/** Registration, beats and what they prove. What writes runs inside a transaction. */
export class Registry {
  readonly #db: WriteHandle;
  readonly #nodes: NodeTable;
  readonly #tables: Pick<KernelTables, "changes" | "commands" | "members" | "placementSignal">;
  readonly #transitions: Transitions;
  readonly #heartbeats: Heartbeats;
  readonly #deviceUses: DeviceUses;
  readonly #toldUses: ToldUses;
  readonly #doorTrust: DoorTrust;
  readonly #upgrades: NodeUpgrades;
  readonly #meta: Meta;
  readonly #records: KernelRecords;
  readonly #clock: Clock;

  constructor(parts: {
    db: WriteHandle;
    nodes: NodeTable;
    tables: Pick<
      KernelTables,
      "changes" | "meta" | "records" | "clock" | "commands" | "members" | "placementSignal"
    >;
    transitions: Transitions;
    heartbeats: Heartbeats;
    deviceUses: DeviceUses;
    toldUses: ToldUses;
    doorTrust: DoorTrust;
    upgrades: NodeUpgrades;
  }) {
    this.#db = parts.db;
    this.#nodes = parts.nodes;
    this.#tables = parts.tables;
    this.#transitions = parts.transitions;
    this.#heartbeats = parts.heartbeats;
    this.#deviceUses = parts.deviceUses;
    this.#toldUses = parts.toldUses;
    this.#doorTrust = parts.doorTrust;
    this.#upgrades = parts.upgrades;
    this.#meta = parts.tables.meta;
    this.#records = parts.tables.records;
    this.#clock = parts.tables.clock;
  }

  /** @throws AgentRefusal `unknown_node` for one that never joined or was revoked */
  known(nodeId: string): NodeRow {
    const node = this.#nodes.get(nodeId);
    if (node === undefined || node.state === "REVOKED")
      throw new AgentRefusal("unknown_node", `node ${nodeId} is not admitted`);
    return node;
  }

  /** @throws AgentRefusal `stale_epoch` unless it is the epoch of the last registration */
  current(nodeId: string, epoch: Fence): NodeRow {
    const node = this.known(nodeId);
    const own = epochOf(node);
    if (own === null || compareFences(own, epoch) !== 0)
      throw new AgentRefusal("stale_epoch", `node ${nodeId} must register again`);
    return node;
  }

  /** A new epoch; every older one is void. @throws AgentRefusal `protocol_unsupported`, and nothing has changed */
  register(nodeId: string, request: RegisterRequest): RegisterReply {
    const node = this.known(nodeId);
    const protocol = this.#agreedProtocol(nodeId, request);
    for (const { id } of request.inventory.workers) this.#ownWorkerId(nodeId, id);
    const now = this.#clock.now();
    const epoch = this.#nextEpoch(node);
    this.#nodes.register(nodeId, epoch, request, protocol, now);
    this.#upgrades.registered(nodeId, request);
    if (node.state === "JOINED") this.#nodes.move(this.known(nodeId), "READY", now);
    const { release, inventory } = request;
    this.#records.nodeRegistered(nodeId, epoch, { workers: inventory.workers.length, release });
    this.#heartbeats.registered(nodeId, this.#missingFrom(nodeId, request.held));
    this.#tables.commands.desiredChanged(nodeId);
    this.#tables.placementSignal.raise("node-registered");
    const reply = {
      nodeEpoch: epoch,
      leaseMs: this.#grant(nodeId, null),
      beatIntervalMs: BEAT_INTERVAL_MS,
    };
    // The first version has no such field.
    return protocol === AGENT_PROTOCOL.min ? reply : { ...reply, protocol };
  }

  /** Notes the beat; what it has not named for several beats in a row is lost there. */
  hear(nodeId: string, beat: BeatRequest): void {
    const node = this.current(nodeId, beat.nodeEpoch);
    if (node.inventory_digest === null)
      this.#nodes.setInventoryDigest(nodeId, beat.inventoryDigest);
    if (this.#upgrades.isDue(nodeId)) this.#upgrades.begin(nodeId);
    const hadDisk = this.#heartbeats.hasDisk(nodeId);
    const { loopLagMs, diskFreeBytes } = beat;
    const news = this.#heartbeats.beat(nodeId, beat.leaseOf, { loopLagMs, diskFreeBytes });
    this.#heartbeats.noteDevices(nodeId, beat.devices ?? []);
    this.#heartbeats.noteTrust(nodeId, beat.trusts ?? null);
    this.#deviceUses.take(nodeId, beat.devices ?? []);
    this.#toldUses.take(nodeId, beat);
    if (news !== null)
      this.#tables.changes.note({
        ...{ kind: "node-beat", node: nodeId, ...news, loopLagMs: Math.round(loopLagMs) },
      });
    if (!hadDisk && this.#heartbeats.hasDisk(nodeId))
      this.#tables.placementSignal.raise("disk-free");
    for (const id of this.#begunAnew(nodeId, beat.held)) this.#loseAtAgent(id);
    const missing = this.#heartbeats.countMissing(nodeId, this.#missingFrom(nodeId, beat.held));
    for (const [id, beats] of missing) if (beats >= MISSING_BEATS) this.#loseAtAgent(id);
  }

  /** Whether {@link hear} would write: most beats change no row and need no commit. */
  isEventful(nodeId: string, beat: BeatRequest): boolean {
    const node = this.current(nodeId, beat.nodeEpoch);
    return (
      node.inventory_digest === null ||
      this.#upgrades.isDue(nodeId) ||
      this.#deviceUses.hasNews(nodeId, beat.devices ?? []) ||
      this.#missingFrom(nodeId, beat.held).length > 0 ||
      this.#begunAnew(nodeId, beat.held).length > 0
    );
  }

  beatReply(nodeId: string, beat: BeatRequest): BeatReply {
    const node = this.known(nodeId);
    const undrains = this.#meta.number(`undrains:${nodeId}`);
    const { pem, sha256 } = this.#doorTrust.now();
    const upgrade = this.#upgrades.told(nodeId);
    const isTold = beat.trusts === undefined || beat.trusts === sha256;
    return {
      // Who does not say whom it trusts can't be told.
      ...(isTold ? {} : { doorAuthorities: pem }),
      // Only a node that told its release has one to bring.
      ...(upgrade === undefined ? {} : { upgrade }),
      // The first version has no such field.
      ...(agentProtocolOf(node) === AGENT_PROTOCOL.min ? {} : { undrains }),
      nonce: beat.nonce,
      leaseMs: this.#grant(nodeId, beat.nonce),
      desiredVersion: node.desired_version,
      reregister: node.inventory_digest !== beat.inventoryDigest || node.boot_id !== beat.bootId,
    };
  }

  /**
   * The member of a request, when the fence is the one that holds.
   * @throws AgentRefusal `stale_fence`
   */
  fenced(caller: NodeCaller, memberId: string, fence: Fence): MemberRow {
    const member = this.#tables.members.get(memberId);
    if (
      member === undefined ||
      !isHeldBy(caller, member) ||
      compareFences(fence, member) !== 0 ||
      isMemberOver(member.state)
    )
      throw new AgentRefusal("stale_fence", `member ${memberId} is not held under this fence`);
    return member;
  }

  #loseAtAgent(memberId: string): void {
    const member = this.#tables.members.get(memberId);
    if (member === undefined) return;
    this.#transitions.revoke(member.id, member.reason === null ? { reason: "lease_lost" } : {});
    this.#transitions.reconcile(member.job_id);
  }

  /** Members that the node has begun with and does not name; their last reports may still be on the way. */
  #missingFrom(nodeId: string, held: RegisterRequest["held"]): string[] {
    const named = new Set(held.map(({ member }) => member));
    return this.#begunOn(nodeId).filter((member) => !named.has(member));
  }

  /** Members that its registration had lost and that it runs again: a second start under one fence. */
  #begunAnew(nodeId: string, held: RegisterRequest["held"]): string[] {
    const begun = new Set(this.#begunOn(nodeId));
    return held
      .map(({ member }) => member)
      .filter((member) => begun.has(member) && this.#heartbeats.hasBegunAnew(nodeId, member));
  }

  #begunOn(nodeId: string): string[] {
    return this.#membersOn(nodeId)
      .filter(isExpectedHeld)
      .map(({ id }) => id);
  }

  #membersOn(nodeId: string): MemberRow[] {
    return this.#db
      .prepare<[string], MemberRow>(
        "SELECT * FROM members WHERE node_id = ? AND state NOT IN ('RELEASED', 'QUARANTINED')",
      )
      .all(nodeId);
  }

  #nextEpoch(node: NodeRow): Fence {
    return { generation: this.#meta.number("generation"), counter: (node.counter ?? 0) + 1 };
  }

  #grant(nodeId: string, nonce: string | null): number {
    const leaseMs = leaseMsNow(this.#meta, this.#clock);
    this.#heartbeats.granted(nodeId, nonce, leaseMs);
    return leaseMs;
  }

  /** @throws AgentRefusal `protocol_unsupported`, which names both ranges and what to do; the operator is told of it too */
  #agreedProtocol(nodeId: string, { protocol, agentVersion }: RegisterRequest): number {
    const agreed = agreedVersion(AGENT_PROTOCOL, protocol);
    if (agreed !== null) return agreed;
    const theirs = { versions: protocol, name: `the agent of ${nodeId} (release ${agentVersion})` };
    const ours = { ...AGENT_PROTOCOL, name: "the appliance" };
    const why = refusalText("agent protocol", ours, theirs);
    this.#heartbeats.refused(nodeId, why);
    throw new AgentRefusal(PROTOCOL_UNSUPPORTED, why);
  }

  /** @throws AgentRefusal for an id that another node has, or that is not `<node>-<n>` */
  #ownWorkerId(nodeId: string, workerId: string): void {
    if (!workerId.startsWith(`${nodeId}-`) || !/^\d+$/.test(workerId.slice(nodeId.length + 1)))
      throw new AgentRefusal(
        "invalid_request",
        `worker ${workerId} is not named after node ${nodeId}`,
      );
  }
}

/** Whether a node may act for a member. */
export function isHeldBy(
  caller: NodeCaller,
  { node_id: node }: Pick<MemberRow, "node_id">,
): boolean {
  return isAllowed(caller, "member.act", { node });
}

function epochOf({ generation, counter }: NodeRow): Fence | null {
  return generation === null || counter === null ? null : { generation, counter };
}

/** The node has begun with it and is not yet done: an agent that does not name it has lost it. */
function isExpectedHeld({ state, last_seq }: MemberRow): boolean {
  return (state === "STARTING" && last_seq > 0) || state === "RUNNING" || state === "DRAINING";
}
