/** What a member's container is, in the words of the Docker Engine API: nothing of the host, no privileges, no name service. */
import type { ContainerCreateOptions, DeviceMapping, DeviceRequest } from "dockerode";
import type { InventoryWorker } from "@resontech/contracts/agent-protocol";
import { formatFence } from "@resontech/contracts/fence";
import type { Work } from "../../enclosure.ts";
import { JOB_PATHS } from "../../job-paths.ts";
import { cdiName } from "../devices/cdi-specs.ts";
import type { DeviceFile } from "../devices/device-files.ts";
import { OWN_FILES } from "../decisions/own-files.ts";
import type { Attachment } from "../network/job-network.ts";

export const LABELS = {
  instance: "tech.reson.instance",
  member: "tech.reson.member",
  fence: "tech.reson.fence",
} as const;

/** Of every job container: its `/etc/hosts` has it. */
export const JOB_HOSTNAME = "member";

const ENVIRONMENT = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/tmp",
  LANG: "C.UTF-8",
  // Nothing calls home, or waits for an answer that can't come.
  DO_NOT_TRACK: "1",
  HF_HUB_OFFLINE: "1",
  HF_HUB_DISABLE_TELEMETRY: "1",
  WANDB_MODE: "offline",
};

export type Mounts = {
  initBinary: string;
  leaseDir: string;
  runnersDir: string;
  jobDir: string;
  /** Of {@link OwnFile}s. */
  etcDir: string;
  /** Warm start; null when the job has none. */
  modelDir: string | null;
  payload: string;
  out: string;
  tmp: string;
  workspace: string;
  events: string;
};

export type ContainerParts = {
  name: string;
  instance: string;
  engine: "podman" | "docker";
  uid: number;
  /** The profile as this engine takes it: Docker the text, Podman the path of a file. */
  seccomp: string;
  mounts: Mounts;
  attachment: Attachment;
  /** Accelerators of this member; none on a CPU slot. */
  devices: readonly InventoryWorker[];
  /** Of those of these that have files of their own. */
  deviceFiles: readonly DeviceFile[];
  /** At most, of each process: a root without CAP_SYS_RESOURCE can give no more than it has. */
  openFiles: number;
};

export function containerOptions(work: Work, parts: ContainerParts): ContainerCreateOptions {
  const { name, instance, uid, mounts, attachment } = parts;
  const { resources, payload } = work;
  return {
    name,
    Image: work.image,
    User: `${uid}:${uid}`,
    Hostname: JOB_HOSTNAME,
    WorkingDir: "/tmp",
    // Of a name that stood there twice engines would choose differently.
    Env: Object.entries({ ...ENVIRONMENT, ...payload.environment }).map(
      ([name, value]) => `${name}=${value}`,
    ),
    Entrypoint: ["/rt/init"],
    Cmd: ["-lease", "/rt/lease/lease", "-output", JOB_PATHS.output, "--", ...payload.command],
    Labels: {
      [LABELS.instance]: instance,
      [LABELS.member]: work.member,
      [LABELS.fence]: formatFence(work.fence),
    },
    NetworkingConfig: {
      EndpointsConfig: {
        [attachment.network]: { IPAMConfig: { IPv4Address: attachment.address } },
      },
    },
    HostConfig: {
      NetworkMode: attachment.network,
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges", `seccomp=${parts.seccomp}`],
      Memory: resources.memoryBytes,
      // Equal: no swap.
      MemorySwap: resources.memoryBytes,
      // Counted to the same limit; the engine's 64 MiB are too few for data loaders.
      ShmSize: Math.floor(resources.memoryBytes / 2),
      NanoCpus: resources.cpuMillis * 1_000_000,
      PidsLimit: resources.pids,
      ...ownPorts(payload.network),
      // Podman lays a writable one over a read-only root.
      Tmpfs: { "/run": "ro,size=4k" },
      RestartPolicy: { Name: "no" },
      // What the job says is on its own disk; the engine's log would grow on the host's.
      LogConfig: { Type: "none", Config: {} },
      Binds: binds(mounts),
      ...deviceOptions(parts),
      // Podman has them from its configuration, and drops those of a user's processes as soon as one limit is named.
      ...(parts.engine === "docker"
        ? { Ulimits: [{ Name: "nofile", Soft: parts.openFiles, Hard: parts.openFiles }] }
        : {}),
    },
  };
}

/** Of its own network namespace: the host's stays as it is. */
function ownPorts(network: Work["payload"]["network"]): { Sysctls?: Record<string, string> } {
  if (network.shape !== "hub" || network.ports === undefined) return {};
  const { from, to } = network.ports;
  return { Sysctls: { "net.ipv4.ip_local_port_range": `${from} ${to}` } };
}

function binds(mounts: Mounts): string[] {
  return [
    `${mounts.initBinary}:/rt/init:ro`,
    `${mounts.leaseDir}:/rt/lease:ro`,
    `${mounts.runnersDir}:/rt/runner:ro`,
    `${mounts.jobDir}:/rt/job:ro`,
    ...OWN_FILES.map((file) => `${mounts.etcDir}/${file}:/etc/${file}:ro`),
    ...(mounts.modelDir === null ? [] : [`${mounts.modelDir}:/app/model:ro`]),
    `${mounts.payload}:/app/payload`,
    `${mounts.payload}:/var/tmp/nvflare/data`,
    `${mounts.out}:/app/out`,
    `${mounts.tmp}:/tmp`,
    `${mounts.workspace}:/app/workspace`,
    `${mounts.events}:/rt/events`,
  ];
}

/** NVIDIA's by device id; what has files of its own by these, with their groups. Podman is told of NVIDIA's by another interface. */
function deviceOptions({ engine, devices, deviceFiles }: ContainerParts): {
  DeviceRequests?: DeviceRequest[];
  Devices?: DeviceMapping[];
  GroupAdd?: string[];
} {
  const ids = nvidiaDevices(devices);
  const groups = [...new Set(deviceFiles.map(({ group }) => group))].filter((group) => group !== 0);
  return {
    ...(ids.length === 0 || engine === "podman"
      ? {}
      : { DeviceRequests: [{ Driver: "nvidia", DeviceIDs: ids, Capabilities: [["gpu"]] }] }),
    ...(deviceFiles.length === 0
      ? {}
      : {
          Devices: deviceFiles.map(({ path }) => ({
            PathOnHost: path,
            PathInContainer: path,
            CgroupPermissions: "rw",
          })),
        }),
    // The job's own user is in no group of the host's; the group of root is none to give.
    ...(groups.length === 0 ? {} : { GroupAdd: groups.map(String) }),
  };
}

/** What Podman knows these devices by. */
export function cdiDevices({
  engine,
  devices,
}: Pick<ContainerParts, "engine" | "devices">): string[] {
  return engine === "podman" ? nvidiaDevices(devices).map(cdiName) : [];
}

function nvidiaDevices(devices: readonly InventoryWorker[]): string[] {
  return devices
    .filter(({ vendor }) => vendor === "nvidia")
    .flatMap(({ device }) => (device === undefined ? [] : [device]));
}
