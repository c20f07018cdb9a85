import {
  type CgroupVersion,
  featuresLacking,
  oldestKernel,
} from "@resontech/contracts/kernel-features";
import { FIRST_JOB_BYTES } from "@resontech/contracts/room-account";

/** What a node must have before it can take any job. */
const GIB = 1024 ** 3;

export const MINIMUM = { memoryBytes: 2 * GIB, diskBytes: FIRST_JOB_BYTES } as const;

export type NodeFacts = {
  memoryBytes: number;
  diskFreeBytes: number;
  /** As `uname -r` says it. */
  kernel: string;
  cgroup: CgroupVersion;
  architecture: string;
  isRoot: boolean;
  /** Programs that were looked for → whether they are there. */
  programs: Readonly<Record<string, boolean>>;
  hasLoopDevices: boolean;
  hasMemoryLimits: boolean;
};

/** What is missing, each as a sentence that says what to do; empty: fit. */
export function missingHardware(facts: NodeFacts, isNew: boolean): string[] {
  const missing: string[] = [];
  const need = (isThere: boolean, sentence: string): void => {
    if (!isThere) missing.push(sentence);
  };
  const lacking = featuresLacking(facts.kernel, facts.cgroup);
  need(
    facts.architecture === "x64",
    `the processor is ${facts.architecture}; job images are for x86-64`,
  );
  need(
    lacking.length === 0,
    `the kernel is ${facts.kernel}; ${oldestKernel(facts.cgroup)} or newer is needed, for ${lacking.join("; ")}`,
  );
  need(
    facts.memoryBytes >= MINIMUM.memoryBytes,
    `there are ${inGib(facts.memoryBytes)} GiB of memory; 2 GiB are needed`,
  );
  need(
    !isNew || facts.diskFreeBytes >= MINIMUM.diskBytes,
    `${inGib(facts.diskFreeBytes)} GiB are free where the agent keeps its data; ${inGib(MINIMUM.diskBytes)} GiB are needed`,
  );
  need(
    facts.isRoot,
    "the agent does not run as root; it mounts file systems and loads firewall rules",
  );
  need(facts.hasLoopDevices, "there is no /dev/loop-control; load the kernel module `loop`");
  need(
    facts.hasMemoryLimits,
    "control groups can't limit memory; boot with the memory controller enabled",
  );
  for (const [program, isThere] of Object.entries(facts.programs))
    need(isThere, `the program ${program} is not installed`);
  return missing;
}

function inGib(bytes: number): string {
  return (bytes / GIB).toFixed(1);
}
