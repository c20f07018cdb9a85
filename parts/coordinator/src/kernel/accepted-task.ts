import type { JobImage } from "@resontech/contracts/coordinator-config";
import type { AfterWhen, AskedClass } from "@resontech/contracts/http-tasks";
import type { GateProof } from "../audit-ports.ts";
import type { MemberImage } from "./decisions/member-image.ts";

/** One object of the user's bucket as it was when the task was accepted; the job reads this version and no other. */
export type AcceptedInput = {
  /** What it is to the workload; those that a member stages are the agent protocol's `StagedInput.kind`. */
  kind: string;
  /** Where it lies, if not in the bucket of the task. */
  bucket?: string | null;
  key: string;
  versionId: string;
  etag: string;
  sizeBytes: number;
  /** Of what the platform itself stored, hex. */
  sha256?: string | null;
  /** Where the agent puts it, as contracts' `StagedInput.target` says. */
  target: string;
};

/** Pinned ids win; otherwise models in order of preference under the ceiling; null = no wish. Prices are cents an hour. */
export type WorkerSelection =
  | { kind: "pinned"; workerIds: string[] }
  | { kind: "auto"; gpuModels: string[] | null; maxPriceCents: number | null };

/** What a task is to start after: an older job of its project. */
export type AfterJob = { job: string; when: AfterWhen };

/** A task whose every path was validated in the bucket and whose `job.submit.requested` auditd has acknowledged. */
export type AcceptedTask = {
  /** Of a workload that this release has. */
  kind: string;
  /** What only the workload reads; null where the fields below say it. */
  spec: object | null;
  userId: string;
  projectId: string;
  name: string;
  slug: string;
  bucket: string;
  /** `jobs/<slug>`, without slashes at the ends. */
  outputRoot: string;
  /** Shards in file-name order. */
  inputs: AcceptedInput[];
  selection: WorkerSelection;
  onlyMine: boolean;
  estimatedMemoryMb: number | null;
  /** Of the time that it runs, over all attempts; null = none. */
  timeLimitMs: number | null;
  /** Null: its kind's. @default null */
  jobClass?: AskedClass | null;
  /** False: it starts only within a guarantee, and makes way for nobody while it is within. @default null, as others make way */
  isPreemptible?: boolean | null;
  /** Of the member without a device, and for a program that knows one image a job. */
  image: JobImage;
  /** All that the task's files go with, best first: each member runs the first that its worker runs. */
  images: MemberImage[];
  /** Null when the workflow does not name its rounds. */
  numRounds: number | null;
  /** Number of its first round. */
  firstRound: number;
  minClients: number;
  /** A lost attempt goes on from a committed round. */
  resumable: boolean;
  warnings: string[];
  /** Index by index with the shards among `inputs`. */
  shardUncompressedBytes: number[];
  /** @default none */
  after?: readonly AfterJob[];
  /** Where it starts and nowhere else, by id or name. @default any that lets it in */
  pool?: string | null;
  audit: GateProof;
  /** Unique in the project; the same key with another body is a conflict. */
  idempotency: { key: string; bodySha256: string } | null;
};
