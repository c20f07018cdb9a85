/** An entry of the calendar is made, moved or called off: what stands in its way, and its entry in the log, whoever asked. */
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import type { CalendarBody, CalendarChangeBody } from "@resontech/contracts/http-pools";
import { ApiError } from "../api-error.ts";
import type { OperationRunner } from "../audited-operation.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { projectName } from "../identity/project-store.ts";
import type { CalendarEntry, CalendarTable } from "../kernel/calendar-table.ts";
import { minuteOf } from "../kernel/decisions/node-gate.ts";
import { newId } from "../kernel/ids.ts";
import type { PoolTable } from "../kernel/pool-table.ts";
import { faultOfTimes, overlapOf } from "./decisions/calendar-faults.ts";
import { requireNodes } from "./require-nodes.ts";

const APPLIANCE = { kind: "appliance", id: "appliance" } as const;

export type CalendarChangesDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  pools: Pick<PoolTable, "find" | "ofNodes">;
  calendar: CalendarTable;
  now: () => number;
};

export class CalendarChanges {
  readonly #deps: CalendarChangesDeps;

  constructor(deps: CalendarChangesDeps) {
    this.#deps = deps;
  }

  /** @param madeBy null: the root of the host @returns its id @throws ApiError validation_failed, not_found, calendar_conflict */
  async make(audit: OperationRunner, body: CalendarBody, madeBy: string | null): Promise<string> {
    const { pools, read, calendar, now } = this.#deps;
    const { pool: named, nodes = [], project = null, reason = null } = body;
    if ((named === undefined) === (nodes.length === 0))
      throw new ApiError("validation_failed", "name a pool, or nodes");
    const entry: CalendarEntry = {
      ...{ id: newId("cal"), project, nodes, reason, madeBy },
      pool: named === undefined ? null : this.#poolId(named),
      ...{ from: timeOf("from", body.from), until: timeOf("until", body.until) },
    };
    await this.#carryOut(audit, "announced", entry, {
      require: () => {
        if (entry.pool !== null && pools.find(entry.pool) === null) this.#poolId(entry.pool);
        if (project !== null && projectName(read, project) === null)
          throw new ApiError("not_found", `there is no project ${project}`);
        requireNodes(read, nodes);
        this.#requireTimes(entry);
      },
      effect: () => calendar.write(entry, now()),
    });
    return entry.id;
  }

  /** @throws ApiError validation_failed, not_found, calendar_conflict */
  async change(audit: OperationRunner, id: string, body: CalendarChangeBody): Promise<string> {
    const { calendar, now } = this.#deps;
    const changed = (): CalendarEntry => {
      const entry = this.#known(id);
      const { from, until, reason = entry.reason } = body;
      return {
        ...{ ...entry, reason },
        from: from === undefined ? entry.from : timeOf("from", from),
        until: until === undefined ? entry.until : timeOf("until", until),
      };
    };
    await this.#carryOut(audit, "moved", changed(), {
      require: () => this.#requireTimes(changed()),
      effect: () => calendar.write(changed(), now()),
    });
    return id;
  }

  /** @throws ApiError not_found */
  async remove(audit: OperationRunner, id: string): Promise<string> {
    await this.#carryOut(audit, "called-off", this.#known(id), {
      require: () => void this.#known(id),
      effect: () => this.#deps.calendar.remove(id),
    });
    return id;
  }

  async #carryOut(
    audit: OperationRunner,
    change: EventDetail<"admin.calendar">["change"],
    entry: CalendarEntry,
    { require, effect }: { require: () => void; effect: () => void },
  ): Promise<void> {
    require();
    const { id, project, pool, nodes, from, until, reason } = entry;
    await audit.operation(
      {
        ...{ type: "admin.calendar", object: APPLIANCE },
        detail: {
          ...{ change, entry: id, kind: project === null ? "maintenance" : "reservation" },
          ...(project === null ? {} : { project }),
          ...(pool === null ? {} : { pool }),
          ...(nodes.length === 0 ? {} : { nodes }),
          ...{ from: new Date(from).toISOString(), until: new Date(until).toISOString() },
        },
        ...(reason === null ? {} : { pii: { reason } }),
      },
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
  #known(id: string): CalendarEntry {
    const { calendar, now } = this.#deps;
    const entry = calendar.after(now()).find((one) => one.id === id);
    if (entry === undefined)
      throw new ApiError("not_found", `the calendar has no ${id}, or it is over`);
    return entry;
  }

  /** @throws ApiError not_found */
  #poolId(named: string): string {
    const pool = this.#deps.pools.find(named);
    if (pool === null) throw new ApiError("not_found", `there is no pool ${named}`);
    return pool.id;
  }

  /** @throws ApiError validation_failed, calendar_conflict */
  #requireTimes(entry: CalendarEntry): void {
    const { calendar, pools, now } = this.#deps;
    const at = now();
    const fault = faultOfTimes(entry, at);
    if (fault !== null) throw new ApiError("validation_failed", fault);
    const poolOf = [...pools.ofNodes()];
    const withNodes = (one: CalendarEntry) => ({
      ...one,
      nodes:
        one.pool === null
          ? one.nodes
          : poolOf.flatMap(([node, pool]) => (pool === one.pool ? [node] : [])),
    });
    const overlap = overlapOf(withNodes(entry), calendar.after(at).map(withNodes));
    if (overlap === null) return;
    const { id, node, from, until } = overlap;
    throw new ApiError(
      "calendar_conflict",
      `${id} has ${node} from ${minuteOf(from)} until ${minuteOf(until)} already`,
    );
  }
}

/** @throws ApiError validation_failed */
function timeOf(field: string, text: string): number {
  // Date.parse alone takes much that means another time elsewhere.
  const isInstant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(
    text,
  );
  const time = isInstant ? Date.parse(text) : NaN;
  if (Number.isNaN(time))
    throw new ApiError("validation_failed", `${field} is no time: write it as 2026-01-31T18:00Z`);
  return time;
}
