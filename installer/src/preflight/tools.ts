/** The host's programs that an appliance calls, each with the package that has it and what it is called for. Pure. */

export type Tool = { package: string; why: string };

/** A program of the host; `version` as it says it itself, null where it says none. */
export type FoundTool = { path: string; version: string | null };

const TOOLS: Readonly<Record<string, Tool>> = {
  mount: { package: "util-linux", why: "file systems of jobs, the container engine's storage" },
  umount: { package: "util-linux", why: "file systems of jobs" },
  losetup: { package: "util-linux", why: "file systems of jobs" },
  fallocate: { package: "util-linux", why: "the space that an agent holds back" },
  "mkfs.ext4": { package: "e2fsprogs", why: "file systems of jobs" },
  ip: { package: "iproute2", why: "bridges of jobs" },
  nft: { package: "nftables", why: "the firewall of jobs" },
  sync: { package: "coreutils", why: "what install.sh makes durable" },
};
/** Podman's own helpers come as packages of their own, and its absence shows only with the first job. */
const PODMAN_TOOLS: Readonly<Record<string, Tool>> = {
  podman: { package: "podman", why: "containers" },
  runc: { package: "runc", why: "containers, for Podman" },
  conmon: { package: "conmon", why: "containers, for Podman" },
  netavark: { package: "netavark", why: "networks of containers, for Podman" },
  iptables: {
    package: "iptables (netavark calls it)",
    why: "networks of containers, for netavark",
  },
};
const DOCKER_TOOLS: Readonly<Record<string, Tool>> = {
  docker: { package: "docker.io", why: "containers" },
};

/** Whose programs are called: this host's, or those that the bundle brings. */
export type HostTools = "host" | "bundle";
/** What a bundle brings: program → version of its package. */
export type BundledTools = Readonly<Record<string, string>>;

/** Every tool that an engine of this kind makes necessary, whosever it is. */
export function toolsFor(engine: "podman" | "docker"): Readonly<Record<string, Tool>> {
  return { ...TOOLS, ...(engine === "podman" ? PODMAN_TOOLS : DOCKER_TOOLS) };
}

/** Those that the host must have. */
export function toolsOfHost(
  engine: "podman" | "docker",
  source: HostTools,
  bundled: BundledTools,
): Readonly<Record<string, Tool>> {
  const all = Object.entries(toolsFor(engine));
  return Object.fromEntries(
    source === "host" ? all : all.filter(([name]) => !Object.hasOwn(bundled, name)),
  );
}

/**
 * The host's where it has every tool and its Podman is new enough, else the bundle's, all of them: Podman and its helpers of different releases
 * do not go together.
 */
export function chooseHostTools(
  engine: "podman" | "docker",
  found: Readonly<Record<string, FoundTool | null>>,
  isEngineNewEnough: boolean,
  bundled: BundledTools,
): HostTools {
  if (Object.keys(bundled).length === 0) return "host";
  const isWhole = Object.keys(toolsFor(engine))
    .filter((name) => Object.hasOwn(bundled, name))
    .every((name) => (found[name] ?? null) !== null);
  return isWhole && (engine === "docker" || isEngineNewEnough) ? "host" : "bundle";
}

/** One line for each tool: whose it is, which version, what for. */
export function describeTools(
  engine: "podman" | "docker",
  found: Readonly<Record<string, FoundTool | null>>,
  runtime: string,
  { source, bundled }: { source: HostTools; bundled: BundledTools },
): string[] {
  const ours = `node: ours, ${runtime}, for every process of ours`;
  return [
    ours,
    ...Object.entries(toolsFor(engine)).flatMap(([name, { why }]) => {
      if (source === "bundle" && Object.hasOwn(bundled, name))
        return [`${name}: ours, ${bundled[name]}, for ${why}`];
      const tool = found[name] ?? null;
      return tool === null
        ? []
        : [
            `${name}: the host's, ${tool.version ?? "of no version that it says"} (${tool.path}), for ${why}`,
          ];
    }),
  ];
}

/** The first number with a dot in what a tool says of itself: `mke2fs 1.47.0 (5-Feb-2023)`, `ip utility, iproute2-6.1.0`. */
export function versionIn(said: string): string | null {
  return /\d+\.\d+[\w.+~-]*/.exec(said)?.[0] ?? null;
}
