import type { Strategy } from "@resontech/contracts/distributed-spec";
import type { AskedClass } from "@resontech/contracts/http-tasks";

/** How a job stands beside others of its project, as selects have it; empty: nothing is asked for. */
export type ClassWish = "" | AskedClass;
export type WayWish = "" | "yes" | "no";
/** How the ranks of a script share the work. */
export type StrategyWish = "" | Strategy;
