import type { GroupCommit } from "../db/group-commit.ts";
import type { Meta } from "../db/meta.ts";
import type { Clock } from "../kernel/clock.ts";
import type { NodeRow } from "../kernel/rows.ts";
import type { KernelTables } from "../kernel/kernel-tables.ts";
import type { Transitions } from "../kernel/transitions.ts";
import type { WriteHandle } from "../db/open-database.ts";
import {
  evaluateFlap,
  evaluateLiveness,
  LIVENESS,
  type LivenessDecision,
  type LivenessVerdict,
} from "../kernel/decisions/liveness.ts";
import type { Heartbeats } from "../kernel/heartbeats.ts";
import type { NodeTable } from "./node-table.ts";

const TICK_MS = 1_000;

export type LivenessParts = {
  db: WriteHandle;
  commit: GroupCommit;
  clock: Clock;
  meta: Meta;
  nodes: NodeTable;
  heartbeats: Heartbeats;
  tables: Pick<KernelTables, "members" | "placementSignal" | "records">;
  transitions: Transitions;
  /** Nobody is declared dead although somebody is silent. */
  onBrake: (brake: NonNullable<LivenessVerdict["brake"]>) => void;
  onDead: (node: string) => void;
};

/** Looks at every node once a second, and fences what a dead one held. */
export class LivenessMonitor {
  readonly #parts: LivenessParts;
  #lastTick: number | null = null;

  constructor(parts: LivenessParts) {
    this.#parts = parts;
  }

  /** Until aborted. Its own lateness is the loop lag that stays its hand. */
  run(signal: AbortSignal, onError: (error: unknown) => void): void {
    const timer = setInterval(() => void this.tick().catch(onError), TICK_MS);
    signal.addEventListener("abort", () => clearInterval(timer), { once: true });
  }

  async tick(): Promise<void> {
    const { clock, nodes, heartbeats, onBrake, commit } = this.#parts;
    const now = clock.monotonic();
    const ownLagMs = this.#lastTick === null ? 0 : now - this.#lastTick - TICK_MS;
    this.#lastTick = now;
    const { decisions, brake } = evaluateLiveness({
      nodes: nodes.registered().map(({ id, state }) => ({
        node: id,
        state: state as "READY" | "SUSPECT" | "DEAD",
        silentMs: heartbeats.silentMs(id),
        leaselessMs: heartbeats.leaselessMs(id),
        goodBeats: heartbeats.goodBeats(id),
      })),
      ownLagMs,
    });
    if (brake !== null) onBrake(brake);
    await this.#forgetLongLeases();
    if (decisions.length > 0)
      await Promise.all(decisions.map((decision) => commit.run(() => this.#apply(decision))));
  }

  /**
   * The long leases of a planned stop are over once every node holds a short one: were they remembered until their end, a crash before that would have
   * a lost node counted as working for as long.
   */
  async #forgetLongLeases(): Promise<void> {
    const { clock, commit, meta, nodes, heartbeats } = this.#parts;
    const isOver = meta.number("leases-until") <= clock.now() + LIVENESS.leaseMs;
    if (isOver || meta.number("maintenance-until") > clock.now()) return;
    const shortUntil = clock.monotonic() + LIVENESS.leaseMs;
    const living = nodes.registered().filter(({ state }) => state !== "DEAD");
    if (living.some(({ id }) => heartbeats.mayHoldBeyond(id, shortUntil))) return;
    await commit.run(() => meta.set("leases-until", 0));
  }

  #apply({ node: id, to }: LivenessDecision): void {
    const { nodes, clock, heartbeats, tables, onDead } = this.#parts;
    const node = nodes.get(id);
    if (node === undefined || node.state === to || !nodes.move(node, to, clock.now())) return;
    if (to === "SUSPECT") heartbeats.fellSilent(id);
    if (to === "READY") this.#returned(node);
    if (to === "DEAD") {
      this.#died(node);
      onDead(id);
    }
    tables.placementSignal.raise("node-moved");
  }

  #returned(node: NodeRow): void {
    const { nodes, clock } = this.#parts;
    const { flaps, isCordoned } = evaluateFlap(JSON.parse(node.flaps) as number[], clock.now());
    nodes.setFlaps(
      node.id,
      flaps,
      isCordoned ? "it came and went three times in ten minutes" : null,
    );
    for (const member of this.#fencedOn(node.id)) this.#parts.transitions.progress(member);
  }

  /** Its epoch is void, and so is every fence that it held. */
  #died(node: NodeRow): void {
    const { nodes, meta, tables, transitions, db } = this.#parts;
    const epoch = { generation: meta.number("generation"), counter: (node.counter ?? 0) + 1 };
    nodes.setEpoch(node.id, epoch);
    tables.records.nodeLost(node.id, epoch);
    const held = db
      .prepare<[string], { id: string; job_id: string; reason: string | null }>(
        "SELECT id, job_id, reason FROM members WHERE node_id = ? AND state IN ('LEASED', 'STARTING', 'RUNNING', 'DRAINING', 'RELEASING')",
      )
      .all(node.id);
    const lost = {
      reason: "node_lost",
      message: `The node ${node.id} stopped answering.`,
    } as const;
    for (const { id, reason } of held) transitions.revoke(id, reason === null ? lost : {});
    for (const jobId of new Set(held.map(({ job_id }) => job_id))) transitions.reconcile(jobId);
  }

  #fencedOn(nodeId: string) {
    const ids = this.#parts.db
      .prepare<[string], string>("SELECT id FROM members WHERE node_id = ? AND state = 'FENCED'")
      .pluck()
      .all(nodeId);
    return ids.map((id) => this.#parts.tables.members.get(id)!);
  }
}
