/** How many workers each project holds in pools that limit it. Pure: a working copy of one cycle, in which nobody lets go of anything. */
import type { PlacementNode, PlacementWorker, WaitingGang } from "./placement-facts.ts";
import { workerCount } from "./worker-count.ts";

/** By id of a pool that limits projects, what each of them holds there. */
export type PoolUse = ReadonlyMap<string, ReadonlyMap<string, number>>;
type Asker = Pick<WaitingGang, "job" | "size"> & { project?: string };

/** Whether some pool limits what a project holds there. */
export function limitsProjects(nodes: Iterable<PlacementNode>): boolean {
  for (const { gate } of nodes) if (gate?.pool?.projectWorkers != null) return true;
  return false;
}

/** @param holders all that hold workers, those that were asked to go as well */
export function poolUseOf(
  nodes: readonly PlacementNode[],
  workers: readonly PlacementWorker[],
  holders: Iterable<{ project: string; workers: readonly string[] }>,
): PoolUse {
  const use = new Map<string, Map<string, number>>();
  const poolOf = new Map(
    nodes.flatMap(({ id, gate }) =>
      gate?.pool?.projectWorkers == null ? [] : [[id, gate.pool.id] as const],
    ),
  );
  if (poolOf.size === 0) return use;
  const nodeOf = new Map(workers.map(({ id, node }) => [id, node]));
  for (const { project, workers: ids } of holders)
    for (const id of ids) {
      const pool = poolOf.get(nodeOf.get(id) ?? "");
      if (pool === undefined) continue;
      const held = use.get(pool) ?? new Map<string, number>();
      held.set(project, (held.get(project) ?? 0) + 1);
      use.set(pool, held);
    }
  return use;
}

export class PoolLedger {
  /** Those that limit projects, with their limits. */
  readonly #limits = new Map<string, number>();
  readonly #poolOf = new Map<string, string>();
  readonly #held = new Map<string, number>();
  /** By job, the nodes of what was taken back for it. */
  readonly #promised = new Map<string, { project: string; nodes: readonly string[] }>();

  constructor(nodes: Iterable<PlacementNode>, use: PoolUse = new Map()) {
    for (const { id, gate } of nodes) {
      const pool = gate?.pool ?? null;
      if (pool?.projectWorkers == null) continue;
      this.#limits.set(pool.id, pool.projectWorkers);
      this.#poolOf.set(id, pool.id);
    }
    for (const [pool, projects] of use)
      for (const [project, count] of projects) this.#held.set(keyOf(pool, project), count);
  }

  /**
   * Why a node lets no more of the project in, as an end of "n …"; null where it does. A gang is let in if all of it were within the limit, wherever its
   * other workers lie: so nobody has to guess which of them would be there.
   */
  whyFull(gang: Asker, node: string): string | null {
    const pool = this.#poolOf.get(node);
    return pool === undefined
      ? null
      : this.#whyOver(pool, this.#heldOf(pool, gang.project ?? "") + gang.size);
  }

  /** The same once its project holds nothing there. */
  whyTooFew({ size }: Pick<Asker, "size">, node: string): string | null {
    const pool = this.#poolOf.get(node);
    return pool === undefined ? null : this.#whyOver(pool, size);
  }

  /** Whether some pool limits projects. */
  get areLimited(): boolean {
    return this.#limits.size > 0;
  }

  /** As the end of a key of gangs: of one key all find less as the cycle goes on. */
  classOf({ project }: Pick<WaitingGang, "project">): string {
    return !this.areLimited ? "" : ` of ${project}`;
  }

  /** As the end of a key of gangs: in which pools there is room for it now. */
  roomsFor(gang: Asker): string {
    if (!this.areLimited) return "";
    const { project = "", size } = gang;
    const full = [...this.#limits].filter(
      ([pool, limit]) => this.#heldOf(pool, project) + size > limit,
    );
    return full.length === 0 ? "" : ` full ${full.map(([pool]) => pool).join()}`;
  }

  hold(project: string, nodes: Iterable<string>, sign: 1 | -1 = 1): void {
    for (const node of nodes) {
      const pool = this.#poolOf.get(node);
      if (pool === undefined) continue;
      const key = keyOf(pool, project);
      this.#held.set(key, (this.#held.get(key) ?? 0) + sign);
    }
  }

  /** What was taken back for a gang counts as held until the gang has its turn. */
  promise({ job, project }: Pick<WaitingGang, "job" | "project">, nodes: readonly string[]): void {
    if (!this.areLimited) return;
    this.#promised.set(job, { project, nodes });
    this.hold(project, nodes);
  }

  release(job: string): void {
    const promised = this.#promised.get(job);
    if (promised === undefined) return;
    this.#promised.delete(job);
    this.hold(promised.project, promised.nodes, -1);
  }

  #whyOver(pool: string, count: number): string | null {
    const limit = this.#limits.get(pool)!;
    return count <= limit ? null : `in a pool where a project has at most ${workerCount(limit)}`;
  }

  #heldOf(pool: string, project: string): number {
    return this.#held.get(keyOf(pool, project)) ?? 0;
  }
}

function keyOf(pool: string, project: string): string {
  return `${pool} ${project}`;
}
