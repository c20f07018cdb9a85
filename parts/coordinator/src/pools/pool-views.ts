/** Pools and calendar as somebody sees them. */
import type { CalendarEntryReply, PoolReply } from "@resontech/contracts/http-pools";
import type { ReadHandle } from "../db/open-database.ts";
import { projectName } from "../identity/project-store.ts";
import type { CalendarEntry, CalendarTable } from "../kernel/calendar-table.ts";
import type { CalendarWatch } from "../kernel/calendar-watch.ts";
import type { NodePool } from "../kernel/decisions/gate-facts.ts";
import type { WorkerView } from "../kernel/fleet-view.ts";
import type { PoolTable } from "../kernel/pool-table.ts";
import type { ShareTable } from "../kernel/share-table.ts";
import type { ToldNodeUse } from "../kernel/told-uses.ts";
import { poolStanding, type PoolStanding } from "./pool-standing.ts";

/** Whether a project is told to the reader; "all": every one is, and what is counted over all of them. */
export type SeesProject = "all" | ((project: string) => boolean);

export type PoolViewsDeps = {
  read: ReadHandle;
  pools: Pick<PoolTable, "all" | "ofNodes">;
  calendar: Pick<CalendarTable, "after">;
  watch: Pick<CalendarWatch, "affected">;
  workers: () => readonly WorkerView[];
  shares: Pick<ShareTable, "isSet" | "all">;
  uses: () => readonly ToldNodeUse[];
  now: () => number;
};

export class PoolViews {
  readonly #deps: PoolViewsDeps;

  constructor(deps: PoolViewsDeps) {
    this.#deps = deps;
  }

  /** Shared ones, and those of projects that are told, by name. */
  pools(sees: SeesProject): PoolReply[] {
    const { pools, workers } = this.#deps;
    const nodes = this.#nodesOfPools();
    const standing = poolStanding(this.#deps);
    const ofNode = Map.groupBy(workers(), ({ node }) => node);
    return pools
      .all()
      .filter((pool) => isSeen(pool, sees))
      .map((pool) => {
        const theirs = nodes.get(pool.id) ?? [];
        return this.#poolReply(
          pool,
          theirs,
          theirs.flatMap((node) => ofNode.get(node) ?? []),
          sees === "all" ? standing : { ...standing, unkept: [] },
        );
      });
  }

  /** What is not over, by their beginnings. Of projects that are not told no name and no reason. */
  calendar(sees: SeesProject): CalendarEntryReply[] {
    const { calendar, pools, now } = this.#deps;
    const nodes = this.#nodesOfPools();
    const known = new Map(pools.all().map((pool) => [pool.id, pool]));
    return calendar
      .after(now())
      .map((entry) =>
        this.#entryReply(
          entry,
          entry.pool === null ? entry.nodes : (nodes.get(entry.pool) ?? []),
          known.get(entry.pool ?? "") ?? null,
          sees,
        ),
      );
  }

  #nodesOfPools(): Map<string, string[]> {
    const poolOf = this.#deps.pools.ofNodes();
    return Map.groupBy(poolOf.keys(), (node) => poolOf.get(node)!);
  }

  #poolReply(
    pool: NodePool,
    nodes: string[],
    workers: readonly WorkerView[],
    { unlike, unkept }: PoolStanding,
  ): PoolReply {
    const { id, name, kind, project, lends, mostRunMs, classes, workerModels = null } = pool;
    const models = new Set(workers.map(({ model }) => model));
    return {
      ...{ id, name, kind, lends, nodes, project: this.#named(project) },
      mostRunMinutes: mostRunMs === null ? null : Math.round(mostRunMs / 60_000),
      classes: classes === null ? null : [...classes],
      projectWorkers: pool.projectWorkers ?? null,
      cacheBytes: pool.cacheBytes ?? null,
      kept: keptOn(nodes, this.#deps.uses()),
      workerModels: workerModels === null ? null : [...workerModels],
      unlike: unlike
        .filter((one) => one.pool === name)
        .map(({ node, shows }) => ({ node, shows: [...shows] })),
      // A pool that holds none of the model takes nothing of it from anybody.
      warnings: unkept
        .filter(({ model }) => models.has(model))
        .map(
          ({ model, shares, wanted, there }) =>
            `pools leave ${there} of ${model} for ${shares.join(", ")}, and guarantees want ${wanted}`,
        ),
      workers: [...Map.groupBy(workers, ({ model }) => model)]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([model, of]) => ({
          ...{ model, workers: of.length },
          free: of.filter(({ status }) => status === "free").length,
        })),
    };
  }

  #entryReply(
    { id, project, from, until, reason }: CalendarEntry,
    nodes: string[],
    pool: NodePool | null,
    sees: SeesProject,
  ): CalendarEntryReply {
    const isTold = project === null || sees === "all" || sees(project);
    return {
      ...{ id, kind: project === null ? "maintenance" : "reservation", nodes },
      pool: pool !== null && isSeen(pool, sees) ? { id: pool.id, name: pool.name } : null,
      project: isTold ? this.#named(project) : null,
      ...{ from: new Date(from).toISOString(), until: new Date(until).toISOString() },
      reason: isTold ? reason : null,
      affected: sees === "all" ? this.#deps.watch.affected(nodes, { project, from, until }) : null,
    };
  }

  #named(project: string | null): { id: string; name: string } | null {
    const name = project === null ? null : projectName(this.#deps.read, project);
    return name === null ? null : { id: project!, name };
  }
}

function isSeen({ project }: NodePool, sees: SeesProject): boolean {
  return project === null || sees === "all" || sees(project);
}

function keptOn(
  nodes: readonly string[],
  uses: readonly ToldNodeUse[],
): { node: string; bytes: number }[] {
  const told = new Map(uses.map(({ node, use }) => [node, use.cacheInUseBytes]));
  return nodes.flatMap((node) => {
    const bytes = told.get(node);
    return bytes === undefined ? [] : [{ node, bytes }];
  });
}
