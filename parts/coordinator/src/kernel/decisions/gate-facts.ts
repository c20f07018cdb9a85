/** What there is to know of who may use a node when: its pool, and its calendar. */
import type { JobClass } from "./priorities.ts";

/** @property project whose it is; null: everybody's */
export type NodePool = {
  id: string;
  name: string;
  kind: "shared" | "managed" | "private";
  project: string | null;
  /** Others are let in while it is idle, if they can be made to go. */
  lends: boolean;
  /** Whoever states more, or nothing, is not let in; null: all are. */
  mostRunMs: number | null;
  /** Null: all. */
  classes: readonly JobClass[] | null;
  /** The most workers that one project may hold there at a time. @default null, any number */
  projectWorkers?: number | null;
  /** Models, or parts of devices, that its workers are to be; it keeps nobody out. @default null, any */
  workerModels?: readonly string[] | null;
  /** The most that each of its nodes keeps of inputs between members of its project. @default null, nothing */
  cacheBytes?: number | null;
};
/** From when until when the node is for one project alone, or, as in maintenance, for nobody (null). */
export type Closure = { project: string | null; from: number; until: number };
/**
 * All times in milliseconds of one clock.
 * @property at as of when
 * @property key the same of any two that let the same gangs in at one moment
 */
export type NodeGate = {
  key: string;
  at: number;
  pool: NodePool | null;
  closures: readonly Closure[];
};
