import type { MemberBridge, MemberEvent, MemberPayload } from "@resontech/contracts/agent-protocol";
import type { CertificateProfile } from "@resontech/contracts/certificate-profile";
import type { JobReason } from "@resontech/contracts/job-reasons";
import type { WriteHandle } from "../db/open-database.ts";
import { classOf, type JobClass } from "./decisions/priorities.ts";
import type { OwnReasonWords } from "./decisions/reasons.ts";
import type { MemberAsk, MemberResources, NodeSize, WorkerFacts } from "./decisions/resources.ts";
import type { AttemptRow, JobRow, MemberRow } from "./rows.ts";

export type CommittedRound = { round: number; modelUpload: string };

/** Where a new attempt begins: the round, and the upload of the model that it starts from. */
export type ResumePoint = { startRound: number; roundsLeft: number; modelUpload: string };

/** What placement looks for: members on so many workers, and beside them one that holds no device and that all of them reach. */
export type Gang = {
  /** Of all members together. */
  workers: number;
  /** `bytes` is the memory that it asks for, 0 where nothing is known of it; null where there is no such member. */
  hub: { bytes: number } | null;
};

/** How a member stands in its attempt; names of roles are the workload's. */
export type MemberPlan = {
  role: string;
  /** What people call it; null where its role says enough. */
  site: string | null;
  /** Its end decides the attempt, and the job's outputs are what it leaves. An attempt has one. */
  isLead: boolean;
  resources: MemberResources;
};

/** Of one input of a job, as its row has it. */
export type InputFacts = { kind: string; target: string; shardIndex: number | null };

export type DescribedMember = {
  job: JobRow;
  attempt: AttemptRow;
  member: MemberRow;
  /** Of all members of the attempt, once each. */
  sites: readonly string[];
  bridge: MemberBridge | null;
  inputs: readonly InputFacts[];
  /** The project lets files of its sites out. */
  returnsSiteFiles: boolean;
  /** Its agent finds metrics among what a member prints. */
  knowsMetrics: boolean;
  /** The project wants no model with a weight that is no number. */
  refusesNonFinite: boolean;
};

/** What the lead tells when its payload has begun the job's own work. */
export type PayloadStart = Extract<MemberEvent, { kind: "job-started" }>;

/** Grown memory for the next attempt, or the message that names what is needed. */
export type Regrowth = { again: true; bytes: number } | { again: false; message: string };

/** The workload of a job. A kind that this release does not know is held, never guessed at: see {@link Workloads.has}. */
export type Workloads = { of(job: Pick<JobRow, "kind">): Workload; has(kind: string): boolean };

/** None for a kind that this release does not know. */
export function reasonWordsOf(workloads: Workloads, job: Pick<JobRow, "kind">): OwnReasonWords {
  return workloads.has(job.kind) ? workloads.of(job).reasonWords : {};
}

/** The class that the job asked for, or that of its kind. */
export function jobClassOf(
  workloads: Workloads,
  job: Pick<JobRow, "kind" | "job_class">,
): JobClass {
  return classOf(job.job_class, workloads.has(job.kind) ? workloads.of(job).jobClass : "train");
}

/**
 * All that is special to one kind of job. Every question is pure: the kernel asks, and writes rows; only {@link Workload.keepStart} writes by itself.
 * The kernel knows gangs, members, leases and outputs; an agent knows payloads.
 */
export type Workload = {
  /** The oldest version of the agent protocol whose agents can run its members. */
  agentProtocol(job: Pick<JobRow, "spec">): number;
  /** How many workers of one node and model each member holds that holds any. */
  workersEach(job: Pick<JobRow, "spec">): number;
  /** What each member that holds workers asks of its node. */
  asks(job: Pick<JobRow, "spec">): MemberAsk;
  gang(job: JobRow): Gang;
  /** The member without a worker. Asked where the gang has one. */
  hub(job: JobRow, node: NodeSize): MemberPlan;
  /** The gang's `index`-th member, on the workers that it holds. */
  place(job: JobRow, index: number, held: WorkerFacts, node: NodeSize): MemberPlan;
  /** Port of the hub in its own container; 0 where there is none. */
  hubPort: number;
  /** How many members beside the lead must live while the job runs; the others' ends are warnings then. */
  quorum(job: JobRow): number;
  /** Keys below the output root that the lead must have stored before the job has succeeded. */
  requiredOutputs: readonly string[];
  /** What it says of a reason that has a meaning of its own here. */
  reasonWords: OwnReasonWords;
  /** The payload says nothing of a start of its own: the job runs once all its members do. */
  startsWithMembers: boolean;
  /** Inside the transaction that takes the lead's word: keeps what of it nobody but the workload reads. */
  keepStart(db: WriteHandle, attempt: string, started: PayloadStart): void;
  /** The lead's word that it is ready is the start of the job. */
  startsWhenReady: boolean;
  /** By which its gangs come before others of its project. */
  jobClass: JobClass;
  /** Several attempts of a job may live beside one another, each with a gang of its own; else one follows the other. */
  hasSeveralGangs: boolean;
  /** So many gangs of such a job keep its class, and stay while they are within a guarantee; of any other job the one. */
  leastGangs(job: Pick<JobRow, "spec">): number;
  /** How many gangs are to be placed beside those that a running job has. The first, which waits as the job does, is none of them. */
  furtherGangs(job: Pick<JobRow, "replicas_due">): number;
  /** The end of an attempt is that attempt's alone, and the job runs on. */
  outlivesAttempts(job: Pick<JobRow, "state">): boolean;
  /** What those are told who wait for a worker of such a job; null: it ends by itself, and the worker is busy until then. */
  whyHeld: string | null;
  /** A member's payload can stop where it is and go on later: its agent is told which of the two is wished. */
  maySleep: boolean;
  /** A program beside the coordinator dials the lead: its agent listens for it, also where the attempt has one node. */
  isReached: boolean;
  /** Where the next attempt goes on; null where it begins anew. */
  resume(job: JobRow, committed: readonly CommittedRound[]): ResumePoint | null;
  /** Its lead commits on request what it has: it is asked for that before the job makes way. The others go on meanwhile. */
  canCommit(job: Pick<JobRow, "resumable">): boolean;
  /** Whether the member reads this input. */
  reads(
    member: Pick<MemberRow, "role" | "shard_index">,
    input: Pick<InputFacts, "kind" | "shardIndex">,
  ): boolean;
  describe(member: DescribedMember): MemberPayload;
  /** What the attempt's own authority certifies of a member; null where the member has no such certificate. */
  certificate(
    member: Pick<MemberRow, "role" | "site">,
    asked: "member" | "admin",
    attempt: Pick<AttemptRow, "server_name">,
  ): CertificateProfile | null;
  /**
   * What a failed lead needs more of. Null where that changes nothing.
   * @param mayRetry the budget of this cause is not spent
   * @param largestBytes the most that a container may have on any node
   */
  regrow(
    lead: { memoryBytes: number },
    reason: JobReason,
    mayRetry: boolean,
    largestBytes: number,
  ): Regrowth | null;
};
