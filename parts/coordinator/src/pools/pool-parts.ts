import { CalendarChanges } from "./calendar-changes.ts";
import { PoolChanges, type PoolChangesDeps } from "./pool-changes.ts";
import { PoolViews, type PoolViewsDeps } from "./pool-views.ts";
import type { CalendarTable } from "../kernel/calendar-table.ts";

export type PoolParts = {
  poolViews: PoolViews;
  poolChanges: PoolChanges;
  calendarChanges: CalendarChanges;
};

/** What routes of people and of the operator know of pools and calendar. */
export function poolParts({
  watch,
  workers,
  shares,
  uses,
  ...deps
}: PoolChangesDeps & { calendar: CalendarTable } & Pick<
    PoolViewsDeps,
    "watch" | "workers" | "shares" | "uses"
  >): PoolParts {
  return {
    poolViews: new PoolViews({ ...deps, watch, workers, shares, uses }),
    poolChanges: new PoolChanges(deps),
    calendarChanges: new CalendarChanges(deps),
  };
}
