import type { CalendarTable } from "./calendar-table.ts";
import type { Clock } from "./clock.ts";
import type { Closure, NodeGate } from "./decisions/gate-facts.ts";
import type { PoolTable } from "./pool-table.ts";

/** Whom each node lets in, as pools and calendar are now. */
export class NodeGates {
  readonly #clock: Pick<Clock, "now">;
  readonly #pools: Pick<PoolTable, "all" | "ofNodes">;
  readonly #calendar: Pick<CalendarTable, "after">;

  constructor(
    clock: Pick<Clock, "now">,
    pools: Pick<PoolTable, "all" | "ofNodes">,
    calendar: Pick<CalendarTable, "after">,
  ) {
    this.#clock = clock;
    this.#pools = pools;
    this.#calendar = calendar;
  }

  /** By node; one that lets everybody in at any time is not among them. Equal gates are one object. */
  read(): Map<string, NodeGate> {
    const at = this.#clock.now();
    const pools = new Map(this.#pools.all().map((pool) => [pool.id, pool]));
    const entries = this.#calendar.after(at);
    const gates = new Map<string, NodeGate>();
    if (pools.size === 0 && entries.length === 0) return gates;
    const poolOf = this.#pools.ofNodes();
    const membersOf = Map.groupBy(poolOf.keys(), (node) => poolOf.get(node)!);
    const closuresOf = new Map<string, Closure[]>();
    for (const { project, from, until, pool, nodes } of entries) {
      const closure = { project, from, until };
      for (const node of pool === null ? nodes : (membersOf.get(pool) ?? [])) {
        const closures = closuresOf.get(node);
        if (closures === undefined) closuresOf.set(node, [closure]);
        else closures.push(closure);
      }
    }
    const byKey = new Map<string, NodeGate>();
    for (const node of new Set([...poolOf.keys(), ...closuresOf.keys()])) {
      const pool = pools.get(poolOf.get(node) ?? "") ?? null;
      const closures = closuresOf.get(node) ?? [];
      const key = JSON.stringify([pool?.id, closures]);
      let gate = byKey.get(key);
      if (gate === undefined) byKey.set(key, (gate = { key, at, pool, closures }));
      gates.set(node, gate);
    }
    return gates;
  }
}
