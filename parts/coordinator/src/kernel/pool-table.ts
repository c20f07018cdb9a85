import type { WriteHandle } from "../db/open-database.ts";
import type { Clock } from "./clock.ts";
import type { NodePool } from "./decisions/gate-facts.ts";
import type { JobClass } from "./decisions/priorities.ts";
import type { PlacementSignal } from "./placement-signal.ts";

type PoolRow = {
  id: string;
  name: string;
  kind: NodePool["kind"];
  project_id: string | null;
  lends: number;
  most_run_ms: number | null;
  classes: string | null;
  project_workers: number | null;
  worker_models: string | null;
  cache_bytes: number | null;
};

/** Pools of nodes, each with its rules. A node is in one at most. */
export class PoolTable {
  readonly #clock: Pick<Clock, "now">;
  readonly #signal: Pick<PlacementSignal, "raise">;
  readonly #all;
  readonly #write;
  readonly #remove;
  readonly #nodes;
  readonly #join;
  readonly #leave;
  readonly #naming;

  constructor(db: WriteHandle, clock: Pick<Clock, "now">, signal: Pick<PlacementSignal, "raise">) {
    this.#clock = clock;
    this.#signal = signal;
    this.#all = db.prepare<[], PoolRow>("SELECT * FROM pools ORDER BY name");
    this.#write = db.prepare<[object]>(
      `INSERT INTO pools (id, name, kind, project_id, lends, most_run_ms, classes, project_workers, worker_models, cache_bytes, created_at,
           changed_at)
         VALUES (@id, @name, @kind, @project, @lends, @mostRunMs, @classes, @projectWorkers, @workerModels, @cacheBytes, @now, @now)
       ON CONFLICT (id) DO UPDATE SET lends = excluded.lends, most_run_ms = excluded.most_run_ms, classes = excluded.classes,
         project_workers = excluded.project_workers, worker_models = excluded.worker_models, cache_bytes = excluded.cache_bytes,
         changed_at = excluded.changed_at`,
    );
    this.#remove = db.prepare<[string]>("DELETE FROM pools WHERE id = ?");
    this.#nodes = db.prepare<[], { node: string; pool: string }>(
      "SELECT node_id AS node, pool_id AS pool FROM pool_nodes ORDER BY node_id",
    );
    this.#join = db.prepare<[string, string]>(
      "INSERT INTO pool_nodes (node_id, pool_id) VALUES (?, ?)",
    );
    this.#leave = db.prepare<[string, string]>(
      "DELETE FROM pool_nodes WHERE node_id = ? AND pool_id = ?",
    );
    this.#naming = db
      .prepare<[string], number>("SELECT count(*) FROM jobs WHERE pool = ? AND ended_at IS NULL")
      .pluck();
  }

  /** By name. */
  all(): NodePool[] {
    return this.#all.all().map((row) => ({
      ...{ id: row.id, name: row.name, kind: row.kind, project: row.project_id },
      ...{ lends: row.lends === 1, mostRunMs: row.most_run_ms },
      classes: row.classes === null ? null : (JSON.parse(row.classes) as JobClass[]),
      projectWorkers: row.project_workers,
      workerModels: row.worker_models === null ? null : (JSON.parse(row.worker_models) as string[]),
      cacheBytes: row.cache_bytes,
    }));
  }

  /** @param named by its id or its name */
  find(named: string): NodePool | null {
    const all = this.all();
    return all.find(({ id }) => id === named) ?? all.find(({ name }) => name === named) ?? null;
  }

  /** The pool of each node that is in one. */
  ofNodes(): Map<string, string> {
    return new Map(this.#nodes.all().map(({ node, pool }) => [node, pool]));
  }

  /** Jobs that name it and have not ended. */
  named(id: string): number {
    return this.#naming.get(id)!;
  }

  /** Inside a transaction. Of one that is there the rules are changed alone. */
  write(pool: NodePool): void {
    this.#write.run({
      ...{ ...pool, lends: Number(pool.lends), now: this.#clock.now() },
      classes: pool.classes === null ? null : JSON.stringify(pool.classes),
      projectWorkers: pool.projectWorkers ?? null,
      workerModels: pool.workerModels == null ? null : JSON.stringify(pool.workerModels),
      cacheBytes: pool.cacheBytes ?? null,
    });
    this.#signal.raise("pools-set");
  }

  /** Inside a transaction. */
  move(id: string, { added, removed }: { added: readonly string[]; removed: readonly string[] }) {
    for (const node of removed) this.#leave.run(node, id);
    for (const node of added) this.#join.run(node, id);
    this.#signal.raise("pools-set");
  }

  /** Inside a transaction. Its nodes are everybody's from then. */
  remove(id: string): void {
    this.#remove.run(id);
    this.#signal.raise("pools-set");
  }
}
