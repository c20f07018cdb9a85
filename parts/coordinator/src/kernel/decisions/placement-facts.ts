/** What a plan is made from: gangs that wait or run, places of lost members, nodes and workers, as they are at one moment. */
import type { DeviceFacts } from "@resontech/contracts/image-needs";
import type { WorkerSelection } from "../accepted-task.ts";
import type { MemberImage } from "./member-image.ts";
import type { NodeGate } from "./gate-facts.ts";
import type { MemberAsk, NodeSize } from "./resources.ts";

export type WaitingGang = {
  job: string;
  /** Of its job, by which all gangs are in order. */
  sequence: number;
  /** Its job runs already: this one joins those that it has. */
  isFurther: boolean;
  /** Of a job that may have several: those that it has, and those of its own that come before this one. Absent: it has one at a time. */
  before?: number;
  userId: string;
  project: string;
  /** Of its class: among gangs of one project the higher comes first, and may take the place of a lower one. */
  priority: number;
  /** It makes way for nobody within a guarantee, and starts nowhere else. Absent: it borrows, and makes way. */
  isOnlyGuaranteed?: boolean;
  /** How many workers it takes, of all its members together. */
  size: number;
  /** How many of them each member holds, of one model on one node. Absent: one. */
  workersEach?: number;
  /** Of its node, for each member. Absent: nothing. */
  asks?: MemberAsk;
  selection: WorkerSelection;
  onlyMine: boolean;
  estimatedMemoryMb: number | null;
  /** Memory that its hub asks for; nodes with less hold none. Null: it has no hub, and lies on one node. */
  hubBytes: number | null;
  avoidNodes: readonly string[];
  /** Null: one that any worker is given. */
  images: readonly Pick<MemberImage, "needs">[] | null;
  /** How long it runs at most, in milliseconds; null: its job states nothing. */
  runsMs: number | null;
  /** The pool that its job names; absent: any that lets it in. */
  pool?: string | null;
  /** Since when, in milliseconds; absent: it has no place that could be kept. */
  waitingSince?: number;
  /** The oldest version of the agent protocol that will do. */
  agentProtocol: number;
  /** Its node needs a port, also where it lies on one. */
  isReached: boolean;
};
/** The place of a lost member in an attempt that runs; `home` is its hub's node. */
export type Vacancy = Omit<
  WaitingGang,
  | "size"
  | "hubBytes"
  | "isReached"
  | "isFurther"
  | "before"
  | "project"
  | "priority"
  | "isOnlyGuaranteed"
  | "runsMs"
  | "waitingSince"
> &
  Partial<Pick<WaitingGang, "project" | "priority" | "runsMs" | "before">> & {
    member: string;
    home: string;
    /** The attempt has its port for other nodes already. */
    hasPort: boolean;
  };
export type PlacementNode = {
  id: string;
  ownerId: string | null;
  isReady: boolean;
  isCordoned: boolean;
  /** Room on its disk for another member. */
  hasDisk: boolean;
  /** Attempts whose hub it can still hold for members on other nodes; 0 where no other node can reach it. */
  freePorts: number;
  /** Of the same ports, those that are free for the gateway: also where no other node can reach it. */
  gatewayPorts: number;
  /** The most that one container may have there. */
  capacityBytes: number;
  /** Absent: it has not told, and whoever asks for a part of it finds none. */
  size?: NodeSize;
  /** The version that its agent and the coordinator speak. */
  agentProtocol: number;
  /** Absent: it lets everybody in at any time. */
  gate?: NodeGate;
  /** By which it is preferred, in steps, from above 0 to 1. Absent: 1. */
  score?: number;
};
export type PlacementWorker = {
  id: string;
  node: string;
  model: string;
  memoryBytes: number;
  device: DeviceFacts;
  isHealthy: boolean;
  isFree: boolean;
  /** What those are told who wait for it, where it is not merely busy. */
  whyHeld?: string | null;
  /** The job that it was taken back for: nobody else gets it meanwhile. */
  keptFor?: string | null;
};
/** A gang that holds workers, as preemption sees it. Times are of one clock, in milliseconds. */
export type RunningGang = {
  job: string;
  attempt: string;
  project: string;
  userId: string;
  priority: number;
  /** Nothing takes its place while it is within a guarantee; those that are older are within it first. */
  staysGuaranteed?: boolean;
  /** By which it is taken back once it is beyond every guarantee. Absent: by its class. */
  lentPriority?: number;
  /** False: nothing takes its place, as of one that ends already. */
  isPreemptible: boolean;
  /** Ids of its workers. */
  workers: readonly string[];
  startedAt: number;
  /** When it ends at the latest; null: nobody stated it. */
  endsAt: number | null;
  /** What it did until then outlives it; at first its start. */
  committedAt: number;
  /** When it made way before. */
  preemptedAt: readonly number[];
};
/** A gang whose payload is stopped: whoever finds no free worker may have its workers, whatever shares say. */
export type SleepingGang = Pick<RunningGang, "job" | "attempt" | "project" | "userId" | "workers">;
