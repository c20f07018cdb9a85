import { spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statfsSync,
  statSync,
} from "node:fs";
import { lookup } from "node:dns/promises";
import { connect, createServer } from "node:net";
import {
  availableParallelism,
  networkInterfaces,
  release as kernelRelease,
  totalmem,
} from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type ApplianceConfig, DEFAULT_PORTS } from "@resontech/contracts/appliance-config";
import type { CgroupVersion } from "@resontech/contracts/kernel-features";
import { reserveOf } from "@resontech/contracts/log-reserve";
import {
  type Demand,
  demandsOfFirstStart,
  demandsOfRelease,
  sumOf,
} from "@resontech/contracts/room-account";
import { DEFAULT_JOB_PORTS } from "@resontech/contracts/port-range";
import { DEFAULT_JOB_UIDS } from "@resontech/contracts/uid-range";
import { Layout } from "@resontech/frame/layout";
import { firstDataBytes, userOffsets } from "@resontech/parts";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { readRuncVersion } from "@resontech/appliance/read-runc-version";
import { SYSTEM_PATH } from "@resontech/appliance/tools-environment";
import { unitFile } from "@resontech/appliance/systemd-unit";
import { Journal } from "../journal.ts";
import { rootState } from "../steps/root-folder.ts";
import type { Disk, HostFacts } from "./checks.ts";
import { type FoundTool, toolsFor, versionIn } from "./tools.ts";
import { ownPorts } from "./own-ports.ts";
import { readNeighbours } from "./neighbours.ts";
import { sharedNumbers } from "./shared-numbers.ts";
import { takenIds } from "./taken-ids.ts";

/** Sockets, pid files and the container engine's run files. */
const RUN_BYTES = 16 * 1024 ** 2;
/** Unpacked images are tens of thousands of files. */
const ROOT_INODES = 200_000;
const RUN_INODES = 1_000;
const ENGINE_TIMEOUT_MS = 15_000;
const TOOL_TIMEOUT_MS = 5_000;
const VERSION_FLAG: Readonly<Record<string, string>> = { "mkfs.ext4": "-V", ip: "-V" };
/** Where Podman looks for its helpers beside PATH. */
const HELPER_FOLDERS = [
  "/usr/libexec/podman",
  "/usr/lib/podman",
  "/usr/local/libexec/podman",
  "/usr/local/lib/podman",
];

/** What a host is looked at for: an appliance, or a node of one. */
export type HostUse = Required<
  Pick<ApplianceConfig, "instance" | "name" | "address" | "jobPorts" | "jobUids">
> & {
  engine: "podman" | "docker";
  /** Where its parts will listen, job ports apart. */
  listens: readonly { host: string; port: number }[];
  /** Numeric users of its parts, jobs apart. */
  uids: readonly number[];
  /** What it takes of the file system of its root before it starts, and at its first start. */
  releaseDemands: readonly Demand[];
  startDemands: (totalBytes: number) => readonly Demand[];
  /** Null: no audit log lies below its root, or the log has settled what it holds back. */
  keyKind: ApplianceConfig["keyKind"] | null;
};

export function useByAppliance(
  root: string,
  { instance, name, address, ports, containerEngine, uidBase, ...config }: ApplianceConfig,
  release: ReleaseManifest,
): HostUse {
  const perimeter = [ports.api, ports.s3, ports.registry, ports.nats];
  const loopback = [
    ...[ports.keycloak, ports.keycloakManagement, ports.postgres],
    ports.prometheus ?? DEFAULT_PORTS.prometheus,
  ];
  return {
    ...{ instance, name, address, engine: containerEngine.kind },
    jobPorts: config.jobPorts ?? DEFAULT_JOB_PORTS,
    jobUids: config.jobUids ?? DEFAULT_JOB_UIDS,
    listens: [
      ...perimeter.map((port) => ({ host: address, port })),
      ...loopback.map((port) => ({ host: "127.0.0.1", port })),
    ],
    uids: userOffsets().map((offset) => uidBase + offset),
    releaseDemands: demandsOfRelease(release, storedBlobs(root, release)),
    ...firstStart(root, config),
  };
}

/** Looks at the host; changes nothing. */
export async function readHostFacts(root: string, config: HostUse): Promise<HostFacts> {
  const runFolder = join("/run/resontech", config.instance);
  const isRunning =
    (await acceptsUnix(new Layout(root, config.instance).supervisorSocket)) ||
    // Where a release has it that was before this one.
    (await acceptsUnix(join(runFolder, "supervisor.sock")));
  const { owned } = new Journal(root);
  const isOwnInstance = owned.some(({ what, path }) => what === "tree" && path === runFolder);
  const own: ReadonlySet<number> = isOwnInstance ? ownPorts(runFolder) : new Set();
  const isOwnUnit = owned.some(({ what, path }) => what === "unit" && path === config.instance);
  return {
    platform: process.platform,
    arch: process.arch,
    kernel: kernelRelease(),
    uid: process.getuid?.() ?? -1,
    memoryBytes: totalmem(),
    cpuCount: availableParallelism(),
    engineVersion: engineVersion(config.engine),
    runc: readRuncVersion(config.engine, { PATH: SYSTEM_PATH }),
    disks: readDisks(root, config),
    tools: Object.fromEntries(
      Object.keys(toolsFor(config.engine)).map((tool) => [tool, findTool(tool)]),
    ),
    portsInUse:
      isRunning && isOwnInstance ? [] : (await portsInUse(config)).filter((port) => !own.has(port)),
    jobPortsInUse:
      isRunning && isOwnInstance ? [] : jobPortsInUse(config).filter((port) => !own.has(port)),
    rootState: rootState(root),
    closedParent: firstClosed(root),
    instanceIsTaken:
      (isRunning && !isOwnInstance) || (existsSync(unitFile(config.instance)) && !isOwnUnit),
    rootIsNoexec: isNoexec(nearestExisting(root)),
    rootFileSystemType: statfsSync(nearestExisting(root)).type,
    cgroup: cgroupVersion(),
    hasLoopDevices: existsSync("/dev/loop-control"),
    hasOverlay: hasOverlay(),
    localAddresses: Object.values(networkInterfaces()).flatMap((addresses) =>
      (addresses ?? []).map(({ address }) => address),
    ),
    nameResolvesTo: await lookup(config.name, { all: true }).then(
      (answers) => answers.map((answer) => answer.address),
      () => [],
    ),
    clockS: Math.floor(Date.now() / 1000),
    usersInRange: usersInRange(config),
    shared: sharedNumbers(
      { ...config, ports: config.listens.map(({ port }) => port) },
      readNeighbours(root),
    ),
    jobUsersInRange: takenIds(
      {
        passwd: readOr("/etc/passwd", ""),
        group: readOr("/etc/group", ""),
        subuid: readOr("/etc/subuid", ""),
        subgid: readOr("/etc/subgid", ""),
      },
      config.jobUids,
    ),
    selinuxEnforces: readOr("/sys/fs/selinux/enforce", "0") === "1",
    fapolicydRuns: existsSync("/run/fapolicyd/fapolicyd.fifo"),
    fipsMode: readOr("/proc/sys/crypto/fips_enabled", "0") === "1",
  };
}

/** What is there already of an earlier release, or of an install that was cut, is not asked for again. */
function storedBlobs(root: string, release: ReleaseManifest): (sha256: string) => boolean {
  const store = join(root, "blobs", "sha256");
  const sizes = new Map(release.blobs.map(({ sha256, sizeBytes }) => [sha256, sizeBytes]));
  return (sha256) =>
    lstatSync(join(store, sha256), { throwIfNoEntry: false })?.size === sizes.get(sha256);
}

/** Nothing of an appliance that has started: what it took then was free. */
function firstStart(
  root: string,
  { keyKind }: Pick<ApplianceConfig, "keyKind">,
): Pick<HostUse, "startDemands" | "keyKind"> {
  if (existsSync(join(root, "data", "agent"))) return { startDemands: () => [], keyKind: null };
  const unsettled = existsSync(join(root, "etc", "audit-reserve")) ? null : keyKind;
  return {
    startDemands: (totalBytes) => demandsOfFirstStart(unsettled, totalBytes, firstDataBytes()),
    keyKind: unsettled,
  };
}

function readDisks(root: string, { releaseDemands, startDemands, keyKind }: HostUse): Disk[] {
  const ofRoot = readDisk(nearestExisting(root), ROOT_INODES);
  const { totalBytes, freeBytes } = ofRoot;
  return [
    {
      ...{ ...ofRoot, demands: [...releaseDemands, ...startDemands(totalBytes)] },
      logReserveBytes:
        keyKind === null
          ? null
          : reserveOf(keyKind, {
              ...{ totalBytes, freeBytes: Math.max(0, freeBytes - sumOf(releaseDemands)) },
            }),
    },
    {
      ...readDisk("/run", RUN_INODES),
      demands: [{ part: "sockets and locks", bytes: RUN_BYTES }],
      logReserveBytes: null,
    },
  ];
}

function readDisk(path: string, neededInodes: number) {
  const { blocks, bavail, bsize, files, ffree } = statfsSync(path);
  return {
    ...{ path, neededInodes, totalBytes: blocks * bsize, freeBytes: bavail * bsize },
    // A file system that makes inodes as it needs them says that it has none.
    freeInodes: files === 0 ? Number.MAX_SAFE_INTEGER : ffree,
  };
}

function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path));
}

function findTool(tool: string): FoundTool | null {
  const folders = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    "/usr/sbin",
    "/sbin",
    ...HELPER_FOLDERS,
  ];
  const path = folders.map((folder) => join(folder, tool)).find(isExecutable);
  if (path === undefined) return null;
  const { stdout, stderr } = spawnSync(path, [VERSION_FLAG[tool] ?? "--version"], {
    encoding: "utf8",
    timeout: TOOL_TIMEOUT_MS,
  });
  return { path, version: versionIn(`${stdout}${stderr}`) };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Docker's client is asked for its server's: that is what pulls. Podman is not asked for its storage, of which ours is independent. */
function engineVersion(kind: "podman" | "docker"): string | null {
  const args = kind === "docker" ? ["version", "--format", "{{.Server.Version}}"] : ["--version"];
  const { status, stdout } = spawnSync(kind, args, {
    encoding: "utf8",
    timeout: ENGINE_TIMEOUT_MS,
  });
  return status === 0 ? (/\d+\.\d+\S*/.exec(stdout)?.[0] ?? null) : null;
}

async function portsInUse({ listens }: HostUse): Promise<number[]> {
  const asked = await Promise.all(
    listens.map(async ({ host, port }) => ((await isInUse(host, port)) ? port : null)),
  );
  return asked.filter((port) => port !== null);
}

/** Looked up, not tried: a hundred ports would be taken from others for a moment. Addresses there are little-endian hexadecimal. */
function jobPortsInUse({ address, jobPorts }: HostUse): number[] {
  const own = address
    .split(".")
    .toReversed()
    .map((byte) => Number(byte).toString(16).padStart(2, "0").toUpperCase())
    .join("");
  const listening = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
    readOr(file, "")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state]) => state === "0A")
      .map(([, local = ""]) => local.split(":"))
      .filter(([at = ""]) => /^0+$/.test(at) || at.endsWith(own))
      .map(([, port = ""]) => Number.parseInt(port, 16)),
  );
  return [...new Set(listening)]
    .filter((port) => jobPorts.from <= port && port <= jobPorts.to)
    .sort((a, b) => a - b);
}

async function isInUse(host: string, port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const server = createServer();
    // An address that is not ours is a finding of its own.
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "EADDRNOTAVAIL"));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(false)));
  });
}

async function acceptsUnix(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect({ path });
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

function firstClosed(root: string): string | null {
  for (let folder = root; ; folder = dirname(folder)) {
    if (existsSync(folder) && (statSync(folder).mode & 0o001) === 0) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** The mount of the longest prefix decides. */
function isNoexec(path: string): boolean {
  const mounts = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, at = ""]) => path === at || path.startsWith(at.endsWith("/") ? at : `${at}/`))
    .sort(([, a = ""], [, b = ""]) => b.length - a.length);
  return mounts[0]?.[3]?.split(",").includes("noexec") ?? false;
}

function cgroupVersion(): CgroupVersion {
  if (existsSync("/sys/fs/cgroup/cgroup.controllers")) return 2;
  return existsSync("/sys/fs/cgroup/memory") ? 1 : null;
}

/** Loaded, or a module that the kernel loads when it is asked. */
function hasOverlay(): boolean {
  if (/\boverlay$/m.test(readOr("/proc/filesystems", ""))) return true;
  const folder = join("/lib/modules", kernelRelease(), "kernel", "fs", "overlayfs");
  return existsSync(folder) && readdirSync(folder).some((name) => name.startsWith("overlay.ko"));
}

function usersInRange({ uids }: HostUse): string[] {
  const ours = new Set(uids.map(String));
  return readOr("/etc/passwd", "")
    .split("\n")
    .map((line) => line.split(":"))
    .flatMap(([name = "", , uid = ""]) => (ours.has(uid) ? [name] : []));
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return otherwise;
  }
}
