import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import Docker from "dockerode";
import { openFilesLimit } from "@resontech/frame/open-files-limit";
import { processLimit } from "@resontech/frame/process-limit";
import type { NetworkNamespace } from "../network/network-namespace.ts";
import { startEngine, stopEngine } from "./engine-process.ts";

const run = promisify(execFile);

/** Where programs of a node run, other than plainly on this machine. */
export type NodePlace = Pick<NetworkNamespace, "enter">;

export type PodmanService = {
  socket: string;
  podman(...args: string[]): Promise<string>;
  /** It takes connections and answers nothing, until `end`. */
  hang(): { end(): void };
  stop(): Promise<void>;
};

/**
 * A container engine of this test alone, configured as the appliance configures its own. `registry` is trusted by `rootFile`.
 * @param namespace where it runs; plainly on this machine when there is none
 */
export async function startPodman(
  dir: string,
  registry: string,
  rootFile: string,
  namespace: NodePlace | null,
): Promise<PodmanService> {
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const folder = (...names: string[]): string => {
    mkdirSync(join(dir, ...names), { recursive: true });
    return join(dir, ...names);
  };
  const home = folder("home");
  writeFileSync(
    join(folder("home", ".config", "containers"), "policy.json"),
    '{"default":[{"type":"insecureAcceptAnything"}]}\n',
  );
  writeFileSync(
    join(folder("home", ".config", "containers", "certs.d", registry), "ca.crt"),
    readFileSync(rootFile),
  );
  const [graph, runroot] = [folder("storage"), folder("run")];
  const env = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: home,
    XDG_RUNTIME_DIR: runroot,
    CONTAINERS_CONF: file(
      "containers.conf",
      [
        "[containers]",
        `default_ulimits = ["nofile=${openFilesLimit()}:${openFilesLimit()}", "nproc=${processLimit()}:${processLimit()}"]`,
        "[engine]",
        'runtime = "runc"',
        'cgroup_manager = "cgroupfs"',
        'events_logger = "file"',
        `tmp_dir = "${folder("run", "tmp")}"`,
        "[network]",
        'network_backend = "netavark"',
        `network_config_dir = "${folder("networks")}"`,
        // Services that start at once on one host must not take the same subnet.
        `default_subnet_pools = [{ base = "10.${randomInt(100, 250)}.${randomInt(0, 16) * 16}.0/20", size = 24 }]`,
        "",
      ].join("\n"),
    ),
    CONTAINERS_STORAGE_CONF: file(
      "storage.conf",
      `[storage]\ndriver = "overlay"\nrunroot = "${join(runroot, "storage")}"\ngraphroot = "${graph}"\n`,
    ),
    CONTAINERS_REGISTRIES_CONF: file("registries.conf", "unqualified-search-registries = []\n"),
  };
  const socket = join(dir, "podman.sock");
  const placed = (...args: string[]): [string, string[]] =>
    namespace?.enter("podman", args) ?? ["podman", args];
  // The monitor of a container that runs out of memory leaves an empty file `oom` where the service was started.
  const options = { env, cwd: dir };
  const service = await startEngine(
    ...placed("system", "service", "--time=0", `unix://${socket}`),
    options,
    async () => {
      if (!existsSync(socket)) return false;
      await new Docker({ socketPath: socket }).ping();
      return true;
    },
  );
  const podman = async (...args: string[]): Promise<string> =>
    (await run(...placed(...args), options)).stdout;
  return {
    socket,
    podman,
    hang() {
      service.kill("SIGSTOP");
      return { end: () => void service.kill("SIGCONT") };
    },
    async stop() {
      await podman("rm", "--all", "--force", "--time", "0");
      await podman("network", "prune", "--force");
      await stopEngine(service);
      // The overlay driver leaves its own folder mounted on itself.
      await run("umount", [join(graph, "overlay")]).catch(() => undefined);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
