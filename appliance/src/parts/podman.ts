/**
 * A container engine of our own: Podman's Docker-compatible service with private root, run root, network folder and HOME, so that the
 * host's own containers are never touched and nothing of ours is left in them.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import Docker from "dockerode";
import { ROOT, writeOwned } from "../config/owned-file.ts";
import { toolsEnvironment, toolsHome } from "../host-tools/tools-environment.ts";
import type { Layout } from "@resontech/frame/layout";
import type { ReleaseContext } from "./context.ts";
import type { Part } from "./part.ts";
import { openFilesLimit } from "@resontech/frame/open-files-limit";
import { processLimit } from "@resontech/frame/process-limit";
import { podmanEnvironment } from "./podman-environment.ts";
import { podmanCertsDir } from "@resontech/frame/registry-certs";
import { rootPart } from "./process-part.ts";
import { unmountBelow } from "@resontech/frame/unmount-below";

/**
 * runc and cgroupfs run on every supported host; limits are stated because raising them is not always permitted. How many processes a
 * container may have is said for each, in its control group.
 */
function containersConf(layout: Layout, tools: string | null): string {
  const files = openFilesLimit();
  const processes = processLimit();
  return [
    "[containers]",
    `default_ulimits = ["nofile=${files}:${files}", "nproc=${processes}:${processes}"]`,
    "[engine]",
    'runtime = "runc"',
    'cgroup_manager = "cgroupfs"',
    'events_logger = "file"',
    `tmp_dir = "${layout.run("podman", "tmp")}"`,
    `image_copy_tmp_dir = "${pullFolder(layout)}"`,
    // The host's own are found where its distribution has them.
    ...(tools === null
      ? []
      : [
          `conmon_path = ["${tools}/bin/conmon"]`,
          `helper_binaries_dir = ["${tools}/bin"]`,
          "[engine.runtimes]",
          `runc = ["${tools}/bin/runc"]`,
        ]),
    "[network]",
    'network_backend = "netavark"',
    `network_config_dir = "${layout.data("podman", "networks")}"`,
    "",
  ].join("\n");
}

/** What is being pulled; an engine that is killed leaves it there, in its default place for ever. */
function pullFolder(layout: Layout): string {
  return layout.data("podman", "pulling");
}

/**
 * The storage under a name that tells nothing of the install: a container reads in its own mount table where the layers of its root lie.
 * A mount, because Podman resolves links.
 */
function graphRoot(layout: Layout): string {
  return layout.run("podman", "graph");
}

/** Safe to repeat. Private: what is mounted beneath it must not come up at the storage's own path, too. */
function bindStorage(layout: Layout): void {
  const [storage, graph] = [layout.data("podman", "storage"), graphRoot(layout)];
  for (const folder of [storage, graph]) mkdirSync(folder, { recursive: true });
  const isBound =
    statSync(storage).ino === statSync(graph).ino && statSync(storage).dev === statSync(graph).dev;
  if (isBound) return;
  // An install of this name that went without its uninstall may have left its own there.
  unmountBelow(layout.run("podman"));
  mkdirSync(graph, { recursive: true });
  execFileSync("mount", ["--bind", "--make-private", storage, graph]);
}

function storageConf(layout: Layout): string {
  return [
    "[storage]",
    'driver = "overlay"',
    `runroot = "${layout.run("podman", "storage")}"`,
    `graphroot = "${graphRoot(layout)}"`,
    "",
  ].join("\n");
}

/** Files that Podman reads; written at each start, so that a changed name or certificate is followed. */
function writeConfiguration(context: ReleaseContext, registry: string, rootCertPem: Buffer): void {
  const { layout } = context;
  const home = layout.data("podman", "home");
  const certs = podmanCertsDir(layout, registry);
  for (const folder of [layout.run("podman", "tmp"), layout.data("podman", "networks"), certs])
    mkdirSync(folder, { recursive: true });
  chmodSync(layout.run("podman"), 0o700);
  bindStorage(layout);
  rmSync(pullFolder(layout), { recursive: true, force: true });
  mkdirSync(pullFolder(layout), { mode: 0o700 });
  writeOwned(
    layout.data("podman", "containers.conf"),
    containersConf(layout, bundledTools(context)),
    ROOT,
    0o644,
  );
  writeOwned(layout.data("podman", "storage.conf"), storageConf(layout), ROOT, 0o644);
  // No other registry can be named, and a short name resolves nowhere.
  writeOwned(
    layout.data("podman", "registries.conf"),
    "unqualified-search-registries = []\n",
    ROOT,
    0o644,
  );
  // What is pulled is named by digest from our own signed release; the engine's own signature policy has nothing to add.
  writeOwned(
    `${home}/.config/containers/policy.json`,
    '{"default":[{"type":"insecureAcceptAnything"}]}\n',
    ROOT,
    0o644,
  );
  writeOwned(`${certs}/ca.crt`, rootCertPem, ROOT, 0o644);
}

/** @param registry the one that may be pulled from, `<name>:<port>` @param caFile of who vouches for it */
export function podmanPart(context: ReleaseContext, registry: string, caFile: string): Part {
  const { config, layout } = context;
  return rootPart(context, {
    name: "podman",
    after: [],
    program: podmanProgram(context),
    args: ["system", "service", "--time=0", `unix://${layout.podmanSocket}`],
    env: () => ({
      ...toolsEnvironment(config, layout.current),
      ...podmanEnvironment(layout),
    }),
    port: null,
    version: podmanVersion(context),
    // The monitor of a container that runs out of memory leaves an empty file `oom` where the service was started.
    cwd: layout.run("podman"),
    // What it starts inherits this: a job must never outlive the parts that watch it.
    oomScore: 0,
    prepare: async () => writeConfiguration(context, registry, readFileSync(caFile)),
    isHealthy: async () =>
      await new Docker({ socketPath: layout.podmanSocket, timeout: 3_000 }).ping().then(
        () => true,
        () => false,
      ),
  });
}

function bundledTools({
  config,
  layout,
}: Pick<ReleaseContext, "config" | "layout">): string | null {
  return config.hostTools === "bundle" ? toolsHome(layout.current) : null;
}

/** The Podman that the install chose: the release's, or the host's. */
function podmanProgram(context: Pick<ReleaseContext, "config" | "layout">): string {
  const tools = bundledTools(context);
  return tools === null ? "/usr/bin/podman" : `${tools}/bin/podman`;
}

/** One that is gone from the host must not keep what it left from being ended. */
function podmanVersion(context: Pick<ReleaseContext, "config" | "layout">): string {
  const { status, stdout } = spawnSync(podmanProgram(context), ["--version"], { encoding: "utf8" });
  return status === 0 ? (stdout.trim().split(" ").at(-1) ?? "") : "missing";
}
