/** A pool is made, changed or removed: what stands in its way, and its entry in the log, whoever asked. */
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import type { PoolBody, PoolChangeBody } from "@resontech/contracts/http-pools";
import { ApiError } from "../api-error.ts";
import type { OperationRunner } from "../audited-operation.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { projectName } from "../identity/project-store.ts";
import type { CalendarTable } from "../kernel/calendar-table.ts";
import type { NodePool } from "../kernel/decisions/gate-facts.ts";
import { newId } from "../kernel/ids.ts";
import type { PoolTable } from "../kernel/pool-table.ts";
import { requireNodes } from "./require-nodes.ts";

const MINUTE_MS = 60_000;
const APPLIANCE = { kind: "appliance", id: "appliance" } as const;

export type PoolChangesDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  pools: PoolTable;
  calendar: Pick<CalendarTable, "after">;
  now: () => number;
};
type Moved = { added: readonly string[]; removed: readonly string[] };

export class PoolChanges {
  readonly #deps: PoolChangesDeps;

  constructor(deps: PoolChangesDeps) {
    this.#deps = deps;
  }

  /** @returns its id @throws ApiError validation_failed, not_found, pool_conflict */
  async make(audit: OperationRunner, body: PoolBody): Promise<string> {
    const { pools } = this.#deps;
    const { name, kind, project = null, nodes = [] } = body;
    const pool: NodePool = {
      ...{ id: newId("pool"), name, kind, project },
      ...withRules({ lends: false, mostRunMs: null, classes: null }, body),
    };
    const require = () => {
      if ((kind === "shared") !== (project === null))
        throw new ApiError(
          "validation_failed",
          kind === "shared"
            ? "a shared pool is of no project"
            : `a ${kind} pool is of a project: name it`,
        );
      if (project !== null && projectName(this.#deps.read, project) === null)
        throw new ApiError("not_found", `there is no project ${project}`);
      requireLending(pool);
      requireOwner(pool);
      if (pools.all().some((one) => one.name === name))
        throw new ApiError("pool_conflict", `there is a pool ${name} already`);
      this.#requireMoves(pool.id, { added: nodes, removed: [] });
    };
    const moved = { added: nodes, removed: [] };
    await this.#carryOut(
      audit,
      "made",
      pool,
      { ...detailOf(pool), ...movedDetail(moved) },
      {
        require,
        effect: () => {
          pools.write(pool);
          pools.move(pool.id, moved);
        },
      },
    );
    return pool.id;
  }

  /** @param named by its id or its name @throws ApiError validation_failed, not_found, pool_conflict */
  async change(audit: OperationRunner, named: string, body: PoolChangeBody): Promise<string> {
    const { pools } = this.#deps;
    const { id } = this.#known(named);
    const moved = { added: body.addNodes ?? [], removed: body.removeNodes ?? [] };
    const changed = () => {
      const pool = this.#known(id);
      return { ...pool, ...withRules(pool, body) };
    };
    const require = () => {
      requireLending(changed());
      requireOwner(changed());
      this.#requireMoves(id, moved);
    };
    const detail = { ...detailOf(changed()), ...movedDetail(moved) };
    await this.#carryOut(audit, "changed", changed(), detail, {
      require,
      effect: () => {
        pools.write(changed());
        pools.move(id, moved);
      },
    });
    return id;
  }

  /** @throws ApiError not_found, pool_conflict */
  async remove(audit: OperationRunner, named: string): Promise<string> {
    const { pools, calendar, now } = this.#deps;
    const pool = this.#known(named);
    const require = () => {
      this.#known(pool.id);
      const naming = pools.named(pool.id);
      if (naming > 0)
        throw new ApiError(
          "pool_conflict",
          `${naming === 1 ? "a job that has" : `${naming} jobs that have`} not ended ${naming === 1 ? "names" : "name"} the pool ${pool.name}`,
        );
      const entry = calendar.after(now()).find((one) => one.pool === pool.id);
      if (entry !== undefined)
        throw new ApiError("pool_conflict", `${entry.id} of the calendar is of the pool`);
    };
    await this.#carryOut(audit, "removed", pool, detailOf(pool), {
      require,
      effect: () => pools.remove(pool.id),
    });
    return pool.id;
  }

  async #carryOut(
    audit: OperationRunner,
    change: EventDetail<"admin.pools">["change"],
    { id }: NodePool,
    detail: Omit<EventDetail<"admin.pools">, "change" | "pool">,
    { require, effect }: { require: () => void; effect: () => void },
  ): Promise<void> {
    require();
    await audit.operation(
      { type: "admin.pools", object: APPLIANCE, detail: { change, pool: id, ...detail } },
      ({ completeIn }) =>
        this.#deps.commit.run((db) => {
          // Somebody else may have been first.
          require();
          effect();
          completeIn(db);
        }),
    );
  }

  /** @throws ApiError not_found */
  #known(named: string): NodePool {
    const pool = this.#deps.pools.find(named);
    if (pool === null) throw new ApiError("not_found", `there is no pool ${named}`);
    return pool;
  }

  /** @throws ApiError not_found, pool_conflict */
  #requireMoves(id: string, { added, removed }: Moved): void {
    const { pools, read } = this.#deps;
    requireNodes(read, added);
    const poolOf = pools.ofNodes();
    const names = new Map(pools.all().map((pool) => [pool.id, pool.name]));
    for (const node of added) {
      const other = poolOf.get(node);
      if (other !== undefined)
        throw new ApiError("pool_conflict", `${node} is in the pool ${names.get(other)} already`);
    }
    for (const node of removed)
      if (poolOf.get(node) !== id)
        throw new ApiError("not_found", `${node} is not in the pool ${names.get(id)}`);
  }
}

type Rules = Pick<
  NodePool,
  "lends" | "mostRunMs" | "classes" | "projectWorkers" | "workerModels" | "cacheBytes"
>;

function withRules(
  before: Rules,
  {
    lends,
    mostRunMinutes,
    classes,
    projectWorkers = before.projectWorkers ?? null,
    workerModels = before.workerModels?.slice() ?? null,
    cacheBytes = before.cacheBytes ?? null,
  }: Pick<
    PoolBody,
    "lends" | "mostRunMinutes" | "classes" | "projectWorkers" | "workerModels" | "cacheBytes"
  >,
): Rules {
  const mostRunMs = typeof mostRunMinutes === "number" ? mostRunMinutes * MINUTE_MS : null;
  return {
    lends: lends ?? before.lends,
    mostRunMs: mostRunMinutes === undefined ? before.mostRunMs : mostRunMs,
    classes: classes === undefined ? before.classes : classes,
    ...{ projectWorkers, workerModels, cacheBytes },
  };
}

/** @throws ApiError validation_failed */
function requireLending({ kind, lends }: NodePool): void {
  if (lends && kind !== "managed")
    throw new ApiError(
      "validation_failed",
      kind === "shared"
        ? "a shared pool is everybody's: there is nothing to lend"
        : "a private pool lends to nobody",
    );
}

/** @throws ApiError validation_failed */
function requireOwner({ kind, cacheBytes }: NodePool): void {
  if (kind === "shared" && cacheBytes != null)
    throw new ApiError(
      "validation_failed",
      "a shared pool is of no project, and inputs are kept for one alone: leave its cache out",
    );
}

function detailOf(pool: NodePool): Omit<EventDetail<"admin.pools">, "change"> {
  const { name, kind, project, lends, mostRunMs, classes, projectWorkers, workerModels } = pool;
  const { cacheBytes } = pool;
  return {
    ...{ name, kind, lends, most_run_minutes: (mostRunMs ?? 0) / MINUTE_MS },
    ...(project === null ? {} : { project }),
    classes: [...(classes ?? [])],
    project_workers: projectWorkers ?? 0,
    worker_models: [...(workerModels ?? [])],
    cache_bytes: cacheBytes ?? 0,
  };
}

function movedDetail({ added, removed }: Moved): { added?: string[]; removed?: string[] } {
  return {
    ...(added.length === 0 ? {} : { added: [...added] }),
    ...(removed.length === 0 ? {} : { removed: [...removed] }),
  };
}
