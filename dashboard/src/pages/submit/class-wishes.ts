import type { AskedClass } from "@resontech/contracts/http-tasks";

/** How a job stands beside others of its project, as selects have it; empty: nothing is asked for. */
export type ClassWish = "" | AskedClass;
export type WayWish = "" | "yes" | "no";
