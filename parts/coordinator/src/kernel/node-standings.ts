import type { WriteHandle } from "../db/open-database.ts";
import type { Clock } from "./clock.ts";
import { loadOf, type NodeStanding, UPTIME_WINDOW_MS, uptimeOf } from "./decisions/node-score.ts";
import type { PlacementWorker } from "./decisions/placement-facts.ts";
import type { NodeLoads } from "./node-loads.ts";
import type { NodeRow } from "./rows.ts";

/** What is known of each node, from outages that the database keeps and from what beats told. */
export class NodeStandings {
  readonly #clock: Pick<Clock, "now">;
  readonly #loads: Pick<NodeLoads, "of">;
  readonly #silent;

  constructor(db: WriteHandle, clock: Pick<Clock, "now">, loads: Pick<NodeLoads, "of">) {
    this.#clock = clock;
    this.#loads = loads;
    this.#silent = db.prepare<[{ now: number; from: number }], { node: string; ms: number }>(
      `SELECT outage.node_id AS node,
         sum(max(0, min(coalesce(outage.until, @now), @now) - max(outage.since, nodes.joined_at, @from))) AS ms
       FROM node_outages AS outage JOIN nodes ON nodes.id = outage.node_id
       WHERE outage.until IS NULL OR outage.until > @from GROUP BY outage.node_id`,
    );
  }

  read(
    nodes: readonly Pick<NodeRow, "id" | "joined_at">[],
    workers: Iterable<Pick<PlacementWorker, "node" | "isFree">>,
  ): Map<string, NodeStanding> {
    const now = this.#clock.now();
    const silent = new Map(
      this.#silent
        .all({ now, from: now - UPTIME_WINDOW_MS })
        .map(({ node, ms }): [string, number] => [node, ms]),
    );
    const held = new Map<string, { all: number; held: number }>();
    for (const { node, isFree } of workers) {
      const count = held.get(node) ?? { all: 0, held: 0 };
      count.all += 1;
      if (!isFree) count.held += 1;
      held.set(node, count);
    }
    return new Map(
      nodes.map(({ id, joined_at: joinedAt }) => {
        const busy = this.#loads.of(id);
        const count = held.get(id);
        return [
          id,
          {
            uptime: uptimeOf(joinedAt, now, silent.get(id) ?? 0),
            load:
              busy === null || count === undefined ? null : loadOf(busy, count.held / count.all),
          },
        ];
      }),
    );
  }
}
