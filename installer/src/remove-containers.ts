import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";

/** What an install of either kind has in its container engine. */
export type EngineUse = Pick<ApplianceConfig, "instance" | "containerEngine" | "hostTools"> & {
  /** `<name>:<port>` of the appliance's own. */
  registry: string;
};

const TIMEOUT_MS = 120_000;

/**
 * Ends and removes every container and network of this install; those of the host's other users stay.
 *
 * @returns what the engine refused, or that it did not answer
 */
export function removeContainers(
  root: string,
  { instance, containerEngine, registry, hostTools }: EngineUse,
  tools: Readonly<Record<string, string>>,
): string[] {
  if (containerEngine.kind === "docker")
    return removeFromDocker(containerEngine.socket, instance, `${registry}/`, tools);
  const state = join(root, "data", "podman");
  if (!existsSync(join(state, "storage.conf"))) return [];
  // The release goes after its containers: where it is gone, an earlier run has removed them.
  if (hostTools === "bundle" && !existsSync(join(root, "current"))) return [];
  // The state is ours alone, so everything in it goes. The same files that the engine's service read say where it is.
  const env = {
    ...tools,
    HOME: join(state, "home"),
    XDG_RUNTIME_DIR: join("/run/resontech", instance, "podman"),
    CONTAINERS_CONF: join(state, "containers.conf"),
    CONTAINERS_STORAGE_CONF: join(state, "storage.conf"),
    CONTAINERS_REGISTRIES_CONF: join(state, "registries.conf"),
  };
  const engine = new Attempts("podman", env);
  engine.run(["rm", "--all", "--force", "--time=5"]);
  engine.run(["network", "prune", "--force"]);
  return engine.problems;
}

function removeFromDocker(
  socket: string,
  instance: string,
  imagePrefix: string,
  tools: Readonly<Record<string, string>>,
): string[] {
  const engine = new Attempts("docker", { ...tools, DOCKER_HOST: `unix://${socket}` });
  const ids = (args: readonly string[]): string[] => engine.run(args).split("\n").filter(Boolean);
  for (const label of [`tech.reson.instance=${instance}`, `tech.reson.part-of=${instance}`]) {
    const filter = ["--quiet", "--filter", `label=${label}`];
    const containers = ids(["ps", "--all", ...filter]);
    if (containers.length > 0) engine.run(["rm", "--force", ...containers]);
    const networks = ids(["network", "ls", ...filter]);
    if (networks.length > 0) engine.run(["network", "rm", ...networks]);
  }
  const images = ids([
    "images",
    "--quiet",
    "--no-trunc",
    "--filter",
    `reference=${imagePrefix}*/*`,
  ]);
  if (images.length > 0) engine.run(["rmi", "--force", ...new Set(images)]);
  return engine.problems;
}

/** An engine that does not answer must not keep the rest from being removed. */
class Attempts {
  readonly problems: string[] = [];
  readonly #program: string;
  readonly #env: Readonly<Record<string, string>>;

  constructor(program: string, env: Readonly<Record<string, string>>) {
    this.#program = program;
    this.#env = env;
  }

  run(args: readonly string[]): string {
    try {
      return execFileSync(this.#program, args, {
        env: { ...this.#env },
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
        timeout: TIMEOUT_MS,
      });
    } catch (error) {
      this.problems.push(
        `${this.#program} ${args[0] ?? ""}: ${error instanceof Error ? error.message : String(error)}`,
      );
      return "";
    }
  }
}
