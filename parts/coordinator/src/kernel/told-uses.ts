import {
  type BeatRequest,
  type MemberUses,
  type NodeUse,
  USE_COLUMNS,
  type UseColumn,
} from "@resontech/contracts/agent-protocol";
import { compareFences, type Fence } from "@resontech/contracts/fence";
import { isAllowed } from "../authorization/demand.ts";
import type { WriteHandle } from "../db/open-database.ts";
import type { Clock } from "./clock.ts";
import { NodeLoads } from "./node-loads.ts";

/** Longer than Prometheus takes from look to look: how a member that ended was last is seen once. Beats come more often. */
const SHOWN_MS = 20_000;

export type MemberOnNode = {
  job: string;
  /** Its number. */
  attempt: string;
  member: string;
  /** Its role where it has no site. */
  site: string;
  node: string;
};
export type ToldMemberUse = MemberOnNode & { use: Partial<Record<UseColumn, number>> };
export type ToldNodeUse = { node: string; use: NodeUse };

type Told<T> = { at: number; value: T };
type MemberUnderFence = MemberOnNode & Fence;

/** What nodes told last of what they and their members use, in memory alone: whoever is silent says nothing. */
export class ToldUses {
  readonly #find;
  /** How busy it leaves nodes. */
  readonly loads: NodeLoads;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #ofMembers = new Map<string, Told<ToldMemberUse> & { fence: Fence }>();
  readonly #ofNodes = new Map<string, Told<ToldNodeUse>>();

  constructor(db: WriteHandle, clock: Pick<Clock, "monotonic">) {
    this.#find = db.prepare<[string], MemberUnderFence>(
      `SELECT members.job_id AS job, CAST(number AS TEXT) AS attempt, members.id AS member, coalesce(site, role) AS site,
         node_id AS node, members.generation, members.counter
       FROM members JOIN attempts ON attempts.id = attempt_id WHERE members.id = ?`,
    );
    this.#clock = clock;
    this.loads = new NodeLoads(clock);
  }

  /** A node tells of itself and of members that it holds under their present fence: whatever else it says is passed over. */
  take(
    node: string,
    { held, members, node: use }: Pick<BeatRequest, "held" | "members" | "node">,
  ): void {
    const at = this.#clock.monotonic();
    this.loads.take(node, use);
    if (use === undefined) this.#ofNodes.delete(node);
    else this.#ofNodes.set(node, { at, value: { node, use } });
    for (const [row, place] of (members?.held ?? []).entries()) {
      const named = held[place];
      const whose = named === undefined ? null : this.#whose(node, named);
      if (named === undefined || whose === null) continue;
      const value = { ...whose, use: rowOf(members!, row) };
      this.#ofMembers.set(named.member, { at, value, fence: named.fence });
    }
  }

  members(): ToldMemberUse[] {
    return this.#recent(this.#ofMembers);
  }

  nodes(): ToldNodeUse[] {
    return this.#recent(this.#ofNodes);
  }

  /** Looked up once: neither place nor job of a member changes under a fence. */
  #whose(node: string, { member, fence }: BeatRequest["held"][number]): MemberOnNode | null {
    const known = this.#ofMembers.get(member);
    if (known?.value.node === node && compareFences(known.fence, fence) === 0) return known.value;
    const found = this.#find.get(member);
    if (found === undefined || compareFences(found, fence) !== 0) return null;
    const caller = { kind: "node", node, by: "certificate" } as const;
    if (!isAllowed(caller, "member.act", { node: found.node })) return null;
    const { generation: _generation, counter: _counter, ...whose } = found;
    return whose;
  }

  #recent<T>(told: Map<string, Told<T>>): T[] {
    const oldest = this.#clock.monotonic() - SHOWN_MS;
    for (const [key, { at }] of told) if (at < oldest) told.delete(key);
    return [...told.values()].map(({ value }) => value);
  }
}

function rowOf(members: MemberUses, row: number): ToldMemberUse["use"] {
  return Object.fromEntries(
    USE_COLUMNS.flatMap((column) => {
      const value = members[column]?.[row];
      return value === undefined || value === null ? [] : [[column, value]];
    }),
  );
}
