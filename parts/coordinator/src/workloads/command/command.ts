/** One script in one container, on one worker or on several of a node, without a way out. Its folders of inputs lie below `/app/payload`; what it writes to `/app/out` comes back. */
import type { MemberPayload } from "@resontech/contracts/agent-protocol";
import {
  memberAskOf,
  type MemberAskSpec,
  workersEachOf,
} from "../../submission/decisions/member-asks.ts";
import { asAsked, workerResources } from "../../kernel/decisions/resources.ts";
import type { JobRow } from "../../kernel/rows.ts";
import type { DescribedMember, Workload } from "../../kernel/workload.ts";

/** Column `spec` of a job of this kind. */
export type CommandSpec = {
  interpreter: string[];
  script: string;
  arguments: string[];
  environment: Record<string, string>;
} & MemberAskSpec;

const ROLE = "command";
/** Inputs, what is made of them, and as much again while that happens. */
const DISK_DATA_FACTOR = 3;

export const command: Workload = {
  agentProtocol: () => 1,
  hubPort: 0,
  requiredOutputs: [],
  reasonWords: {},
  startsWithMembers: true,
  startsWhenReady: false,
  keepStart() {},
  jobClass: "train",
  hasSeveralGangs: false,
  leastGangs: () => 1,
  furtherGangs: () => 0,
  outlivesAttempts: () => false,
  whyHeld: null,
  maySleep: false,
  isReached: false,
  workersEach: (job) => workersEachOf(specOf(job)),
  asks: (job) => memberAskOf(specOf(job)),
  gang: (job) => ({ workers: command.workersEach(job), hub: null }),
  hub() {
    throw new Error("a command has no member without a worker");
  },
  place(job, _index, held, node) {
    const inputBytes = (JSON.parse(job.shard_uncompressed_bytes) as number[])[0] ?? 0;
    return {
      role: ROLE,
      site: null,
      isLead: true,
      resources: asAsked(
        workerResources(node, held, DISK_DATA_FACTOR * inputBytes),
        memberAskOf(specOf(job)),
      ),
    };
  },
  quorum: () => 0,
  resume: () => null,
  canCommit: () => false,
  reads: () => true,
  describe,
  certificate: () => null,
  regrow: () => null,
};

function specOf({ spec }: Pick<JobRow, "spec">): CommandSpec {
  return JSON.parse(spec ?? "null") as CommandSpec;
}

function describe({ job, knowsMetrics }: DescribedMember): MemberPayload {
  const spec = specOf(job);
  return {
    command: [...spec.interpreter, `/rt/job/scripts/${spec.script}`, ...spec.arguments],
    // What the job says of itself does not change where it finds things.
    environment: {
      ...spec.environment,
      PYTHONUNBUFFERED: "1",
      RESONTECH_INPUT_DIR: "/app/payload",
      RESONTECH_OUT_DIR: "/app/out",
    },
    files: [],
    certificates: null,
    network: { shape: "closed" },
    sites: [],
    outputs: {
      logs: [],
      printed: `files_out/logs/${ROLE}.log`,
      models: null,
      files: { folder: "files_out", site: ROLE },
      checkpoints: false,
      ...(knowsMetrics ? { metrics: ROLE } : {}),
    },
  };
}
