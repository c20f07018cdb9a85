/**
 * A container in the words of Podman's own interface. Podman's copy of the Docker interface takes no CDI name: 4.3 looks for a file of that
 * name, and passes over DeviceRequests without a word. Pure.
 */
import type { ContainerCreateOptions } from "dockerode";

/** Microseconds: the kernel's default, which the Docker interface counts with too. */
const CPU_PERIOD = 100_000;
const NANO = 1_000_000_000;
const NO_NEW_PRIVILEGES = "no-new-privileges";

/** Podman lays it over a read-only root when it is asked by the Docker interface, in memory that counts to the container. */
const TMPFS_OF_PODMAN = { "/var/tmp": "rw,rprivate,nosuid,nodev,tmpcopyup" };

export type PodmanLimits = { openFiles: number; processes: number };

/**
 * All that our containers say, and what the Docker interface would add. A device's name is that of a CDI specification.
 * @throws TypeError for options that have no counterpart here: nothing of an enclosure is dropped
 */
export function podmanSpec(
  name: string,
  options: ContainerCreateOptions,
  cdiDevices: readonly string[],
  limits: PodmanLimits,
): Record<string, unknown> {
  const { Image, User, Hostname, WorkingDir, Env, Entrypoint, Cmd, Labels, ...others } = options;
  const { NetworkingConfig, HostConfig = {}, name: _name, ...unknown } = others;
  const { NetworkMode, ReadonlyRootfs, CapDrop, SecurityOpt, ...host } = HostConfig;
  const { Memory, MemorySwap, ShmSize, NanoCpus = 0, PidsLimit, ...files } = host;
  const { Tmpfs = {}, RestartPolicy, LogConfig, Binds, Sysctls, ...left } = files;
  refuse(
    Object.entries({ ...unknown, ...left }).flatMap(([key, value]) =>
      value === undefined ? [] : key,
    ),
  );
  const security: readonly string[] = SecurityOpt ?? [];
  const seccomp = security.find((option) => option.startsWith("seccomp="));
  refuse(security.filter((option) => option !== seccomp && option !== NO_NEW_PRIVILEGES));
  return {
    name,
    image: Image,
    user: User,
    hostname: Hostname,
    work_dir: WorkingDir,
    env: Object.fromEntries((Env ?? []).map(cutAt("="))),
    // Not from the engine's own environment.
    httpproxy: false,
    entrypoint: Entrypoint,
    command: Cmd,
    // It is no service manager whatever its name.
    systemd: "false",
    labels: Labels,
    netns: { nsmode: "bridge" },
    networks: networksOf(NetworkMode, NetworkingConfig),
    read_only_filesystem: ReadonlyRootfs,
    cap_drop: CapDrop,
    no_new_privileges: security.includes(NO_NEW_PRIVILEGES),
    seccomp_profile_path: seccomp?.slice("seccomp=".length),
    resource_limits: {
      memory: { limit: Memory, swap: MemorySwap },
      cpu: { period: CPU_PERIOD, quota: Math.round((NanoCpus / NANO) * CPU_PERIOD) },
      pids: { limit: PidsLimit },
    },
    shm_size: ShmSize,
    ...(Sysctls === undefined ? {} : { sysctl: Sysctls }),
    mounts: [
      ...(Binds ?? []).map(bindMount),
      ...Object.entries(TMPFS_OF_PODMAN).map(tmpfsMount),
      ...Object.entries(Tmpfs).map(tmpfsMount),
    ],
    restart_policy: RestartPolicy?.Name,
    log_configuration: { driver: LogConfig?.Type },
    // The engine's configuration has them for the Docker interface alone.
    r_limits: [
      { type: "NOFILE", soft: limits.openFiles, hard: limits.openFiles },
      { type: "NPROC", soft: limits.processes, hard: limits.processes },
    ],
    devices: cdiDevices.map((path) => ({ path })),
  };
}

function refuse(names: readonly string[]): void {
  if (names.length > 0) throw new TypeError(`no counterpart for ${names.join(", ")}`);
}

function networksOf(
  mode: string | undefined,
  config: ContainerCreateOptions["NetworkingConfig"],
): Record<string, unknown> {
  const address = config?.EndpointsConfig?.[mode ?? ""]?.IPAMConfig?.IPv4Address;
  if (mode === undefined || address === undefined) throw new TypeError("no place in a network");
  return { [mode]: { static_ips: [address] } };
}

/** `/host:/container:ro`; what is not read-only may be written. */
function bindMount(bind: string): Record<string, unknown> {
  const [source, destination, mode] = bind.split(":");
  return {
    ...{ type: "bind", source, destination },
    options: ["rbind", "rprivate", mode === "ro" ? "ro" : "rw"],
  };
}

function tmpfsMount([destination, options]: [string, string]): Record<string, unknown> {
  return { type: "tmpfs", source: "tmpfs", destination, options: options.split(",") };
}

function cutAt(separator: string): (text: string) => [string, string] {
  return (text) => {
    const at = text.indexOf(separator);
    return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
  };
}
