/**
 * What of Linux the product uses, each with the first kernel that has it. The installer's preflight and the agent ask the same list, so a host
 * that is good enough for an appliance is good enough for a node.
 */

/** Which control groups the host has mounted where container engines look; null: none. */
export type CgroupVersion = 1 | 2 | null;

export type KernelFeature = {
  feature: string;
  /** First version of the kernel that has it. */
  since: readonly [major: number, minor: number];
  usedBy: string;
  /** Used with this version of control groups alone. @default with both */
  cgroup?: 1 | 2;
  /** Who says so. */
  source: string;
};

export const KERNEL_FEATURES: readonly KernelFeature[] = [
  {
    feature: "free loop devices by number (/dev/loop-control)",
    since: [3, 1],
    usedBy: "the file system of each member (agent: member-filesystem.ts)",
    source: "https://man7.org/linux/man-pages/man4/loop.4.html",
  },
  {
    feature: "seccomp filters",
    since: [3, 5],
    usedBy: "the system calls of a job (agent: seccomp-profile.ts, init/scheduling.go)",
    source: "https://man7.org/linux/man-pages/man2/seccomp.2.html",
  },
  {
    feature: "overlay mounts of several lower layers",
    since: [4, 0],
    usedBy: "container engines, for the layers of an image",
    source: "https://docs.kernel.org/filesystems/overlayfs.html",
  },
  {
    feature: "nftables sets of concatenated keys",
    since: [4, 1],
    usedBy: "the firewall of jobs (agent: firewall.ts)",
    source: "https://wiki.nftables.org/wiki-nftables/index.php/Concatenations",
  },
  {
    feature: "control group namespaces",
    since: [4, 6],
    usedBy: "PID 1 of a job, which reads its own memory events (agent: init/main.go)",
    source: "https://man7.org/linux/man-pages/man7/cgroup_namespaces.7.html",
  },
  {
    feature: "the count of processes killed at a memory limit (oom_kill)",
    since: [4, 13],
    usedBy: "PID 1 of a job, to tell a full memory from a fault (agent: init/main.go)",
    source: "https://git.kernel.org/linus/8e675f7af507",
  },
  {
    feature: "device rules of control groups version 2",
    since: [4, 15],
    cgroup: 2,
    usedBy: "container engines, so that a job opens its own accelerators alone",
    source: "https://github.com/opencontainers/runc/blob/main/docs/cgroup-v2.md",
  },
  {
    feature: "what Node 26 is built for",
    since: [4, 18],
    usedBy: "every process of ours",
    source: "https://github.com/nodejs/node/blob/main/BUILDING.md#platform-list",
  },
  {
    feature: "the freezer of control groups version 2",
    since: [5, 2],
    cgroup: 2,
    usedBy: "container engines, to end all processes of a job at once",
    source: "https://github.com/opencontainers/runc/blob/main/docs/cgroup-v2.md",
  },
];

/** Version from which every feature is there. */
export function oldestKernel(cgroup: CgroupVersion): string {
  const versions = featuresWith(cgroup).map(({ since }) => since);
  return versions.reduce((newest, one) => (isOlder(newest, one) ? one : newest)).join(".");
}

/** What a kernel is too old for, each as words with the version that brought it. @param kernel as `uname -r` says it */
export function featuresLacking(kernel: string, cgroup: CgroupVersion): string[] {
  const [major = 0, minor = 0] = kernel.split(".").map((part) => Number.parseInt(part, 10));
  return featuresWith(cgroup)
    .filter(({ since }) => isOlder([major, minor], since))
    .map(({ feature, since }) => `${feature}, since ${since.join(".")}`);
}

function featuresWith(cgroup: CgroupVersion): readonly KernelFeature[] {
  return KERNEL_FEATURES.filter(
    (feature) => feature.cgroup === undefined || cgroup === null || feature.cgroup === cgroup,
  );
}

function isOlder(
  [major, minor]: readonly [number, number],
  than: readonly [number, number],
): boolean {
  return major < than[0] || (major === than[0] && minor < than[1]);
}
