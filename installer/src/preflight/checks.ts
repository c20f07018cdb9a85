/** What the host must have, each check with an id, what was found and what to do. Pure: facts in, findings out. */
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import {
  type CgroupVersion,
  featuresLacking,
  oldestKernel,
} from "@resontech/contracts/kernel-features";
import { type Demand, sumOf } from "@resontech/contracts/room-account";
import { DEFAULT_JOB_PORTS } from "@resontech/contracts/port-range";
import { DEFAULT_JOB_UIDS, type UidRange } from "@resontech/contracts/uid-range";
import { userOffsets } from "@resontech/parts";
import { knownEscapes, RUNC_REMEDY, type RuncVersion } from "@resontech/appliance/known-escapes";
import { type BundledTools, type FoundTool, type HostTools, toolsOfHost } from "./tools.ts";
import type { RootState } from "../steps/root-folder.ts";

export type Disk = {
  path: string;
  freeBytes: number;
  freeInodes: number;
  /** Each part of what is needed of it. */
  demands: readonly Demand[];
  neededInodes: number;
  /** What the audit log will hold back there; null where it does not lie. */
  logReserveBytes: number | null;
};

export type HostFacts = {
  platform: string;
  arch: string;
  kernel: string;
  uid: number;
  memoryBytes: number;
  cpuCount: number;
  /** Each file system that the install writes to, once. */
  disks: readonly Disk[];
  /** As the container engine says it, "26.1.5"; null when it does not answer. */
  engineVersion: string | null;
  /** Null when it can't be asked. */
  runc: RuncVersion | null;
  /** Null: not on this host. */
  tools: Readonly<Record<string, FoundTool | null>>;
  portsInUse: readonly number[];
  /** Of the range for jobs, at the perimeter address. */
  jobPortsInUse: readonly number[];
  rootState: RootState;
  /** The root or the first of its parents that other users can't search; null: none. */
  closedParent: string | null;
  /** An appliance of the same instance runs, or has a unit, from another root. */
  instanceIsTaken: boolean;
  rootIsNoexec: boolean;
  /** `f_type` of statfs. */
  rootFileSystemType: number;
  cgroup: CgroupVersion;
  hasLoopDevices: boolean;
  hasOverlay: boolean;
  localAddresses: readonly string[];
  nameResolvesTo: readonly string[];
  clockS: number;
  /** Names of this host's users whose id is one of ours. */
  usersInRange: readonly string[];
  /** Numbers that another install of ours on this host has too, in words. */
  shared: readonly string[];
  /** Whoever of this host has numbers of the range for jobs. */
  jobUsersInRange: readonly string[];
  selinuxEnforces: boolean;
  fapolicydRuns: boolean;
  fipsMode: boolean;
};

export type Wanted = {
  root: string;
  config: ApplianceConfig;
  hostTools: HostTools;
  bundledTools: BundledTools;
  /** When the release was made: a clock before that is wrong. */
  clockFloorS: number;
};

export type Finding = {
  id: string;
  ok: boolean;
  severity: "error" | "warning";
  found: string;
  remedy: string;
};

const GIB = 1024 ** 3;
/** File systems that write elsewhere what is overwritten, by `f_type`: linux/magic.h, and bcachefs and OpenZFS of their own. */
const COPY_ON_WRITE: Readonly<Record<number, string>> = {
  0x91_23_68_3e: "btrfs",
  0x2f_c1_2f_c1: "zfs",
  0xca_45_1a_4e: "bcachefs",
  0xf2_f5_20_10: "f2fs",
  0x34_34: "nilfs2",
};
const MIN_MEMORY_BYTES = 4 * GIB;
const MIN_CPUS = 2;
/** Far more than a node has members: a number is not soon used again. */
const MIN_JOB_USERS = 1024;
const MAX_CLOCK_S = Date.UTC(2100, 0) / 1000;

/** Podman brought netavark with 4.0; Docker reads the images' zstd layers since 23.0. https://github.com/moby/moby/releases/tag/v23.0.0 */
const MIN_ENGINE: Readonly<Record<"podman" | "docker", readonly [major: number, minor: number]>> = {
  podman: [4, 0],
  docker: [23, 0],
};

export function check(
  facts: HostFacts,
  { root, config, hostTools, bundledTools, clockFloorS }: Wanted,
): Finding[] {
  const findings: Finding[] = [];
  const need = (id: string, ok: boolean, found: string, remedy: string): void => {
    findings.push({ id, ok, severity: "error", found, remedy });
  };
  const warn = (id: string, ok: boolean, found: string, remedy: string): void => {
    findings.push({ id, ok, severity: "warning", found, remedy });
  };
  checkHost(
    facts,
    { root, engine: config.containerEngine.kind, hostTools, bundledTools, clockFloorS },
    { need, warn },
  );
  checkPerimeter(facts, config, need);
  const copyOnWrite = COPY_ON_WRITE[facts.rootFileSystemType];
  warn(
    "copy-on-write",
    copyOnWrite === undefined,
    copyOnWrite === undefined
      ? "what is overwritten is overwritten in place"
      : `${root} is on ${copyOnWrite}`,
    `give ${root}/data an ext4 or XFS of its own: here the space that the audit log holds back may be gone when it is needed, and erased values may stay readable on the disk, also in snapshots`,
  );
  warn(
    "users",
    facts.usersInRange.length === 0,
    facts.usersInRange.length === 0
      ? "none of ours is taken"
      : `taken by ${facts.usersInRange.join(", ")}`,
    "choose another --uid-base: those users could read what the processes of the same number own",
  );
  const ours = userOffsets().map((offset) => config.uidBase + offset);
  checkJobUsers(facts, config.jobUids ?? DEFAULT_JOB_UIDS, ours, need);
  warn(
    "fips",
    !facts.fipsMode,
    facts.fipsMode ? "the kernel is in FIPS mode" : "off",
    "the release's own cryptography is not a validated module: ask your security officer",
  );
  return findings;
}

/** What a host of either kind must have. */
export function checkHost(
  facts: HostFacts,
  {
    root,
    engine,
    hostTools,
    bundledTools,
    clockFloorS,
  }: Omit<Wanted, "config"> & { engine: Engine },
  { need, warn }: { need: Add; warn: Add },
): void {
  checkMachine(facts, need);
  for (const disk of facts.disks) checkDisk(disk, need);
  warn(
    "neighbours",
    facts.shared.length === 0,
    facts.shared.length === 0 ? "nothing is shared" : `shared: ${facts.shared.join("; ")}`,
    "choose another --uid-base, --job-uids, --job-ports or --port-…: processes of the same number read one another's files, and of two that want a port one does not start",
  );
  const wanted = toolsOfHost(engine, hostTools, bundledTools);
  for (const [tool, { package: source }] of Object.entries(wanted)) {
    const isThere = isFound(facts, tool);
    need(
      tool === engine ? "container-engine" : `tool-${tool}`,
      isThere,
      isThere ? "found" : `${tool} is missing`,
      `install ${source}`,
    );
  }
  if (Object.hasOwn(wanted, engine)) checkEngineVersion(facts, engine, need);
  checkRoot(facts, root, need);
  need(
    "clock",
    facts.clockS >= clockFloorS && facts.clockS < MAX_CLOCK_S,
    `${isoOf(facts.clockS)}; the release was made ${isoOf(clockFloorS)}`,
    "set the clock: certificates and the audit log state times",
  );
  const bundled = hostTools === "bundle" ? bundledTools["runc"] : undefined;
  const runc =
    bundled === undefined ? facts.runc : { version: bundled.replace(/^v/, ""), build: "" };
  const escapes = runc === null ? [] : knownEscapes(runc);
  warn(
    "runc-escapes",
    escapes.length === 0,
    `runc ${runc?.version ?? "was not asked"}: ${escapes.join(", ") || "no known escape"}`,
    RUNC_REMEDY,
  );
  warn(
    "selinux",
    !facts.selinuxEnforces,
    facts.selinuxEnforces ? "enforcing" : "not enforcing",
    `this release was not proven under SELinux: label ${root} usr_t and ${root}/*/engines bin_t, and watch the audit messages`,
  );
  warn(
    "fapolicyd",
    !facts.fapolicydRuns,
    facts.fapolicydRuns ? "running" : "not running",
    `let fapolicyd trust ${root} before you go on, or programs there can't start`,
  );
}

type Engine = "podman" | "docker";
export type Add = (id: string, ok: boolean, found: string, remedy: string) => void;

function checkMachine(facts: HostFacts, need: Add): void {
  need("root-user", facts.uid === 0, `uid ${facts.uid}`, "run this as root");
  const isKnown = facts.platform === "linux" && facts.arch === "x64";
  need("platform", isKnown, `${facts.platform} ${facts.arch}`, "use a 64-bit x86 Linux host");
  const lacking = featuresLacking(facts.kernel, facts.cgroup);
  need(
    "kernel",
    lacking.length === 0,
    lacking.length === 0 ? facts.kernel : `${facts.kernel} lacks ${lacking.join("; ")}`,
    `use Linux ${oldestKernel(facts.cgroup)} or newer`,
  );
  need(
    "memory",
    facts.memoryBytes >= MIN_MEMORY_BYTES,
    gib(facts.memoryBytes),
    `give this host ${gib(MIN_MEMORY_BYTES)} or more`,
  );
  need(
    "cpu",
    facts.cpuCount >= MIN_CPUS,
    `${facts.cpuCount} cores`,
    `give this host ${MIN_CPUS} cores or more`,
  );
  need(
    "cgroups",
    facts.cgroup !== null,
    presence(facts.cgroup !== null),
    "mount cgroups: job containers are limited by them",
  );
  need(
    "overlay",
    facts.hasOverlay,
    presence(facts.hasOverlay),
    "load the kernel module overlay: images are unpacked by it",
  );
  need(
    "loop-devices",
    facts.hasLoopDevices,
    presence(facts.hasLoopDevices),
    "load the kernel module loop: each job member gets a file system of limited size",
  );
}

/** One that is not installed has a finding of its own. */
function checkEngineVersion(
  { tools, engineVersion }: HostFacts,
  kind: "podman" | "docker",
  need: Add,
): void {
  if (!isFound({ tools }, kind)) return;
  const [major, minor] = MIN_ENGINE[kind];
  need(
    "container-engine-version",
    isEngineNewEnough(kind, engineVersion),
    engineVersion === null ? `${kind} does not answer` : `${kind} ${engineVersion}`,
    `install ${kind} ${major}.${minor} or newer${kind === "docker" ? " and start its service" : ""}`,
  );
}

/** Judges a Podman or Docker by the version that it says; null says that it does not answer. */
export function isEngineNewEnough(kind: "podman" | "docker", version: string | null): boolean {
  const [major, minor] = MIN_ENGINE[kind];
  return version !== null && isAtLeast(version, major, minor);
}

/** What an operator must know of the disk before the install. */
export function describeLogReserve(bytes: number): string {
  return `the audit log holds back ${gib(bytes)}, warns below ${gib(2 * bytes)} free, and has new jobs refused below ${gib(bytes)}`;
}

/** `28.4 GiB free, 17.3 GiB needed: programs 0.5, images 0.7, …` */
export function describeRoom({ freeBytes, demands }: Pick<Disk, "freeBytes" | "demands">): string {
  const parts = demands
    .filter(({ bytes }) => bytes >= 0.05 * GIB)
    .map(({ part, bytes }) => `${part} ${(bytes / GIB).toFixed(1)}`);
  const total = `${gib(freeBytes)} free, ${gib(sumOf(demands))} needed`;
  return parts.length === 0 ? total : `${total}: ${parts.join(", ")}`;
}

function checkDisk(
  { path, freeBytes, freeInodes, demands, neededInodes, logReserveBytes }: Disk,
  need: Add,
): void {
  const neededBytes = sumOf(demands);
  need(
    `disk ${path}`,
    freeBytes >= neededBytes,
    `${describeRoom({ freeBytes, demands })}${
      logReserveBytes === null ? "" : `; ${describeLogReserve(logReserveBytes)}`
    }`,
    `free ${gib(Math.max(0, neededBytes - freeBytes))} more on the file system of ${path}, or choose another --root`,
  );
  need(
    `inodes ${path}`,
    freeInodes >= neededInodes,
    `${freeInodes} free, ${neededInodes} needed`,
    `remove small files on the file system of ${path}, or choose another --root`,
  );
}

function checkRoot(facts: HostFacts, root: string, need: Add): void {
  need(
    "root-free",
    facts.rootState !== "foreign",
    facts.rootState === "foreign"
      ? `${root} holds files that are not ours, or others than root may write there`
      : facts.rootState,
    "choose a --root that is not there yet, or is empty and root's alone: uninstall removes what is in it",
  );
  need(
    "root-reachable",
    facts.closedParent === null,
    facts.closedParent === null
      ? "searchable"
      : `${facts.closedParent} can't be searched by other users`,
    `choose a --root that has mode o+x like its parents (chmod o+x ${facts.closedParent ?? ""}): the parts run under users of their own`,
  );
  need(
    "root-exec",
    !facts.rootIsNoexec,
    facts.rootIsNoexec ? "mounted noexec" : "may execute",
    "choose a --root on a file system that is not mounted noexec",
  );
}

/** A job's processes and files would be that user's, and the user's the job's. */
export function checkJobUsers(
  { jobUsersInRange }: HostFacts,
  { from, to }: UidRange,
  ours: readonly number[],
  need: Add,
): void {
  const taken = [
    ...jobUsersInRange,
    ...(ours.some((uid) => from <= uid && uid <= to) ? ["the appliance's own processes"] : []),
  ];
  need(
    "job-users",
    taken.length === 0 && to - from + 1 >= MIN_JOB_USERS,
    `${from}-${to}, ${taken.length === 0 ? "nobody's" : `taken by ${taken.join(", ")}`}`,
    `choose another --job-uids, of ${MIN_JOB_USERS} numbers or more that are no user's, group's or sub-id's of this host`,
  );
}

function checkPerimeter(
  facts: HostFacts,
  { instance, name, address, ports, jobPorts }: ApplianceConfig,
  need: Add,
): void {
  need(
    "instance",
    !facts.instanceIsTaken,
    facts.instanceIsTaken ? `${instance} runs from another root` : `${instance} is free or ours`,
    "choose another --instance, or uninstall the other appliance first",
  );
  const chosen = Object.values(ports);
  const twice = chosen.filter((port, index) => chosen.indexOf(port) !== index);
  need(
    "ports-distinct",
    twice.length === 0,
    twice.length === 0 ? "each once" : `chosen twice: ${twice.join(", ")}`,
    "choose another --port-… for one of them",
  );
  need(
    "ports",
    facts.portsInUse.length === 0,
    facts.portsInUse.length === 0 ? "free" : `in use: ${facts.portsInUse.join(", ")}`,
    "stop what listens there (ss -ltnp), or choose other ports (--port-api …)",
  );
  const { from, to } = jobPorts ?? DEFAULT_JOB_PORTS;
  const within = chosen.filter((port) => from <= port && port <= to);
  const taken = [...within, ...facts.jobPortsInUse];
  need(
    "job-ports",
    taken.length === 0 && from <= to,
    taken.length === 0 ? `${from}-${to}, free` : `${from}-${to}; taken: ${taken.join(", ")}`,
    "choose another --job-ports: a job over several nodes listens on one of them, for the other nodes alone",
  );
  need(
    "address",
    facts.localAddresses.includes(address),
    `${address}; this host has ${facts.localAddresses.join(", ") || "none"}`,
    "give one of this host's addresses as --address",
  );
  need(
    "name",
    facts.nameResolvesTo.includes(address),
    facts.nameResolvesTo.length === 0
      ? `${name} does not resolve`
      : `${name} → ${facts.nameResolvesTo.join(", ")}`,
    `make ${name} resolve to ${address} on this host, the nodes and the clients (DNS or /etc/hosts)`,
  );
}

function isFound({ tools }: Pick<HostFacts, "tools">, tool: string): boolean {
  return (tools[tool] ?? null) !== null;
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [a = 0, b = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  return a > major || (a === major && b >= minor);
}

const presence = (isThere: boolean): string => (isThere ? "present" : "missing");
const gib = (bytes: number): string => `${(bytes / GIB).toFixed(1)} GiB`;
const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 19);
