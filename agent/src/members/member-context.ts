import type { AgentConfig } from "@resontech/contracts/agent-config";
import type { Logger } from "pino";
import type { NodeRecords } from "../audit/node-records.ts";
import type { CoordinatorClient, MemberRef } from "../bus/coordinator-client.ts";
import type { JobContainers } from "../containers/job-containers.ts";
import type { JobNetwork } from "../network/job-network.ts";
import type { Uploader } from "../outputs/uploader.ts";
import type { Accelerators } from "../probes/accelerators.ts";
import type { MemberFilesystem } from "./member-filesystem.ts";
import type { MemberJournal } from "./member-journal.ts";
import type { MemberStore } from "./member-record.ts";
import type { TailLimit } from "./tail-limit.ts";

/** What every member works with: one of each on a node. */
export type MemberTools = {
  config: AgentConfig;
  store: MemberStore;
  coordinator: CoordinatorClient;
  containers: JobContainers;
  network: JobNetwork;
  uploader: Uploader;
  accelerators: Accelerators;
  tailLimit: TailLimit;
  /** PEM that vouches for the object store. */
  rootCert: string;
  leaseDir: string;
  /** The system calls of a job, as the container engine takes them. */
  seccomp: string;
  bootId: string;
  log: Logger;
  /** What this node says in the audit log. */
  records: NodeRecords;
  /** A report was spooled. */
  onReport: () => void;
};

/** One member's own things, for the steps of its life. */
export type MemberContext = {
  tools: MemberTools;
  journal: MemberJournal;
  disk: MemberFilesystem;
  ref: MemberRef;
  /** Record, staged inputs, disk image. */
  folder: string;
  containerName: string;
  /** It was told to stop, orderly or not. */
  stopped: AbortSignal;
  /** Nothing more of it is told or stored: its fence was withdrawn, or the lease is lost. */
  abandoned: AbortSignal;
};
