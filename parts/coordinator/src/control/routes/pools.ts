/** Pools of nodes, and the calendar. */
import type { FastifyInstance } from "fastify";
import type { PoolParts } from "../../pools/pool-parts.ts";
import { answerOperator } from "../answer-operator.ts";

export async function operatorPoolRoutes(
  app: FastifyInstance,
  { poolViews, poolChanges, calendarChanges }: PoolParts,
): Promise<void> {
  const lists = { action: "pool.list", audit: { none: "status" } } as const;
  const setsPools = { action: "pool.set", audit: { event: "admin.pools" } } as const;
  const setsCalendar = { action: "calendar.set", audit: { event: "admin.calendar" } } as const;
  const poolOf = (id: string) => poolViews.pools("all").find((pool) => pool.id === id)!;
  const entryOf = (id: string) => poolViews.calendar("all").find((entry) => entry.id === id)!;

  answerOperator(app, "pool-list", lists, async () => ({ pools: poolViews.pools("all") }));
  answerOperator(app, "pool-add", setsPools, async (body, { audit }) =>
    poolOf(await poolChanges.make(audit, body)),
  );
  answerOperator(app, "pool-set", setsPools, async ({ id, ...body }, { audit }) =>
    poolOf(await poolChanges.change(audit, id, body)),
  );
  answerOperator(app, "pool-remove", setsPools, async ({ id }, { audit }) => ({
    id: await poolChanges.remove(audit, id),
  }));
  answerOperator(app, "calendar-list", lists, async () => ({
    entries: poolViews.calendar("all"),
  }));
  answerOperator(app, "calendar-add", setsCalendar, async (body, { audit }) =>
    // Whoever is root of the host is no user of the appliance.
    entryOf(await calendarChanges.make(audit, body, null)),
  );
  answerOperator(app, "calendar-set", setsCalendar, async ({ id, ...body }, { audit }) =>
    entryOf(await calendarChanges.change(audit, id, body)),
  );
  answerOperator(app, "calendar-remove", setsCalendar, async ({ id }, { audit }) => ({
    id: await calendarChanges.remove(audit, id),
  }));
}
