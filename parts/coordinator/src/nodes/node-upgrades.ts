/**
 * Which nodes are to bring the appliance's own release, and how far each is. The order stands in the database: the waves go on without whoever gave it,
 * and a node that was away catches up. An order for another release than the one that runs here counts no more.
 */
import { randomUUID } from "node:crypto";
import type { RegisterRequest, UpgradeRequest } from "@resontech/contracts/agent-protocol";
import type { NodeReleaseFacts, NodeUpgradeFacts } from "@resontech/contracts/operator-nodes";
import { ApiError } from "../api-error.ts";
import type { WriteHandle } from "../db/open-database.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Heartbeats } from "../kernel/heartbeats.ts";
import type { NodeState } from "@resontech/contracts/node-states";
import { mayBegin, type OrderedNode, waitsFor, wavesOf } from "./decisions/upgrade-waves.ts";

/** Fetching a release of some hundred megabytes, and the first images of its trials; a node that takes longer has failed. */
const LIMIT_MS = 1_800_000;
/** Longer than a restart of a coordinator or of an agent. A node is not declared dead before its lease ends, which a planned stop makes long. */
const AWAY_MS = 60_000;
const OVERDUE = {
  code: "node_overdue",
  message: `it did not come back with the release, and with its workers well, within ${LIMIT_MS / 60_000} minutes`,
};

type NodeFactsRow = { id: string; state: NodeState; release: string | null; well: number };
type UpgradeRow = {
  node_id: string;
  state: NodeState;
  order_id: string;
  release: string;
  wave: number;
  well_before: number;
  begun_at: number | null;
  ended_at: number | null;
  code: string | null;
  message: string | null;
};

/** What an order would do. `under way`: told by an earlier order for the same release, and goes on. */
export type UpgradePlan = {
  order: string;
  release: string;
  requests: { node: string; wave: number; wellBefore: number }[];
  underWay: string[];
  current: string[];
  /** Nodes that can't be told, with why. */
  leftOut: { node: string; why: string }[];
};

const NODES = `SELECT n.id, n.state, CASE WHEN n.release_at = n.registered_at THEN n.release END AS release,
    (SELECT count(*) FROM workers w WHERE w.node_id = n.id AND w.is_present = 1 AND w.is_healthy = 1) AS well
  FROM nodes n WHERE n.state IN ('READY', 'SUSPECT', 'DEAD')`;

export class NodeUpgrades {
  readonly #db: WriteHandle;
  readonly #clock: Clock;
  readonly #heartbeats: Pick<Heartbeats, "silentMs">;
  /** What the appliance runs and gives out; null where it gives out nothing. */
  readonly #release: string | null;
  readonly #requests;
  readonly #wanted;

  constructor(
    db: WriteHandle,
    clock: Clock,
    heartbeats: Pick<Heartbeats, "silentMs">,
    release: string | null,
  ) {
    this.#db = db;
    this.#clock = clock;
    this.#heartbeats = heartbeats;
    this.#release = release;
    this.#requests = db.prepare<[string | null], UpgradeRow>(
      `SELECT u.*, n.state FROM node_upgrades u JOIN nodes n ON n.id = u.node_id
       WHERE u.release = ? AND n.state IN ('READY', 'SUSPECT', 'DEAD') ORDER BY u.wave, u.node_id`,
    );
    this.#wanted = db.prepare<[string, string | null], UpgradeRow>(
      `SELECT u.*, n.state FROM node_upgrades u JOIN nodes n ON n.id = u.node_id
       WHERE u.node_id = ? AND u.release = ? AND u.ended_at IS NULL`,
    );
  }

  /**
   * @param named null: every node @param except stay as they are
   * @throws ApiError `not_found` for a node that there is not, and where the appliance gives out no release
   */
  plan(named: readonly string[] | null, except: readonly string[]): UpgradePlan {
    const release = this.#release;
    if (release === null)
      throw new ApiError(
        "not_found",
        "this release was installed without what a node verifies it by",
      );
    const nodes = this.#db.prepare<[], NodeFactsRow>(`${NODES} ORDER BY n.id`).all();
    const known = this.#db.prepare<[], string>("SELECT id FROM nodes").pluck().all();
    for (const node of except)
      if (!known.includes(node)) throw new ApiError("not_found", `there is no node ${node}`);
    for (const node of named ?? [])
      if (!nodes.some(({ id }) => id === node))
        throw new ApiError("not_found", `there is no node ${node} that has registered`);
    const chosen = nodes.filter(
      ({ id }) => (named === null || named.includes(id)) && !except.includes(id),
    );
    const underWay = this.#requests
      .all(release)
      .filter((row) => this.#ordered(row).state === "begun")
      .map(({ node_id }) => node_id);
    const free = chosen.filter(({ id }) => !underWay.includes(id));
    const wanting = free.filter((node) => node.release !== null && node.release !== release);
    // The first is to be one that answers: it goes ahead alone.
    const [awake, away] = [
      wanting.filter(({ state }) => state === "READY"),
      wanting.filter(({ state }) => state !== "READY"),
    ];
    const wellOf = new Map(wanting.map(({ id, well }) => [id, well]));
    return {
      ...{ order: randomUUID(), release, underWay },
      requests: wavesOf([...awake, ...away].map(({ id }) => id)).map((one) => ({
        ...one,
        wellBefore: wellOf.get(one.node) ?? 0,
      })),
      current: free.filter((node) => node.release === release).map(({ id }) => id),
      leftOut: free
        .filter((node) => node.release === null)
        .map(({ id: node }) => ({
          node,
          why: "its release does not know this command, or it has not registered since the appliance has it",
        })),
    };
  }

  /** Takes the place of every earlier order; what is under way goes on. Inside a transaction. */
  replaceOrders({ underWay }: UpgradePlan): void {
    const gone = this.#db.prepare("DELETE FROM node_upgrades WHERE node_id = ?");
    const nodes = this.#db.prepare<[], string>("SELECT node_id FROM node_upgrades").pluck().all();
    for (const node of nodes) if (!underWay.includes(node)) gone.run(node);
    this.#db.exec("UPDATE node_upgrades SET wave = 0");
  }

  /** Inside a transaction. */
  note({ order, release }: UpgradePlan, wanted: UpgradePlan["requests"][number]): void {
    this.#db
      .prepare(
        `INSERT OR REPLACE INTO node_upgrades (node_id, order_id, release, wave, well_before, ordered_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
      )
      .run(wanted.node, order, release, wanted.wave, wanted.wellBefore, this.#clock.now());
  }

  /** What a node told of itself when it registered: its order may have ended by that. Inside a transaction, after its workers are stored. */
  registered(node: string, { release, upgradeFailed, inventory }: RegisterRequest): void {
    this.#db
      .prepare("UPDATE nodes SET release = ?, release_at = registered_at WHERE id = ?")
      .run(release ?? null, node);
    const wanted = this.#wanted.get(node, this.#release);
    if (wanted === undefined) return;
    const well = inventory.workers.filter(({ healthy }) => healthy).length;
    if (upgradeFailed?.order === wanted.order_id) this.#end(node, upgradeFailed);
    else if (release === wanted.release && well >= wanted.well_before) this.#end(node, null);
  }

  /** Whether the node is to begin and was not told yet. */
  isDue(node: string): boolean {
    const wanted = this.#wanted.get(node, this.#release);
    if (wanted === undefined || wanted.begun_at !== null) return false;
    return mayBegin(this.#requests.all(this.#release).map((row) => this.#ordered(row))).has(node);
  }

  /** Before the node is told. Inside a transaction. */
  begin(node: string): void {
    this.#db
      .prepare("UPDATE node_upgrades SET begun_at = ? WHERE node_id = ? AND begun_at IS NULL")
      .run(this.#clock.now(), node);
  }

  /** What the node is told with each beat until its order ends; undefined for nothing. */
  told(node: string): UpgradeRequest | undefined {
    const wanted = this.#wanted.get(node, this.#release);
    return wanted === undefined || wanted.begun_at === null
      ? undefined
      : { order: wanted.order_id, release: wanted.release };
  }

  /** By node; nodes that never registered are not in it. */
  facts(): NodeReleaseFacts[] {
    const rows = this.#requests.all(this.#release);
    const ordered = rows.map((row) => this.#ordered(row));
    const byNode = new Map(rows.map((row) => [row.node_id, this.#facts(row, ordered)]));
    return this.#db
      .prepare<[], NodeFactsRow>(`${NODES} ORDER BY n.id`)
      .all()
      .map(({ id, release }) => ({ node: id, release, upgrade: byNode.get(id) ?? null }));
  }

  #facts(row: UpgradeRow, ordered: readonly OrderedNode[]): NodeUpgradeFacts {
    const { state, wave } = this.#ordered(row);
    const failed =
      state !== "failed"
        ? null
        : row.code === null
          ? OVERDUE
          : { code: row.code, message: row.message ?? "" };
    return {
      ...{ order: row.order_id, release: row.release, state, wave, failed },
      waitsFor: waitsFor(ordered, row.node_id),
    };
  }

  #ordered({ node_id: node, wave, state, begun_at, ended_at, code }: UpgradeRow): OrderedNode {
    const isAway =
      state === "DEAD" || (state === "SUSPECT" && this.#heartbeats.silentMs(node) >= AWAY_MS);
    if (ended_at !== null) return { node, wave, isAway, state: code === null ? "done" : "failed" };
    if (begun_at === null) return { node, wave, isAway, state: "waiting" };
    const isOverdue = this.#clock.now() - begun_at > LIMIT_MS;
    return { node, wave, isAway, state: isOverdue ? "failed" : "begun" };
  }

  #end(node: string, failed: { code: string; message: string } | null): void {
    this.#db
      .prepare("UPDATE node_upgrades SET ended_at = ?, code = ?, message = ? WHERE node_id = ?")
      .run(this.#clock.now(), failed?.code ?? null, failed?.message ?? null, node);
  }
}
