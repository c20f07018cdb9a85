/** What Podman reads, written before each start, so that a changed name or certificate is followed; and its storage, under a name of its own. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import type { HostFacts } from "@resontech/frame/define-part";
import { replaceFileNow } from "@resontech/frame/durable-file-now";
import type { Layout } from "@resontech/frame/layout";
import { openFilesLimit } from "@resontech/frame/open-files-limit";
import { processLimit } from "@resontech/frame/process-limit";
import { podmanCertsDir } from "@resontech/frame/registry-certs";
import { unmountBelow } from "@resontech/frame/unmount-below";

const ROOT = { uid: 0, gid: 0 };

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

/** Mounts the storage at a second path. It is safe to repeat. The mount is private: what is mounted beneath it must not come up at the storage's own path, too. */
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

export function preparePodman({ layout, host }: HostFacts): void {
  const { name, ports } = host.appliance;
  const home = layout.data("podman", "home");
  const certs = podmanCertsDir(layout, `${name}:${ports.registry}`);
  for (const folder of [layout.run("podman", "tmp"), layout.data("podman", "networks"), certs])
    mkdirSync(folder, { recursive: true });
  chmodSync(layout.run("podman"), 0o700);
  bindStorage(layout);
  rmSync(pullFolder(layout), { recursive: true, force: true });
  mkdirSync(pullFolder(layout), { mode: 0o700 });
  write(layout.data("podman", "containers.conf"), containersConf(layout, host.toolsHome));
  write(layout.data("podman", "storage.conf"), storageConf(layout));
  // No other registry can be named, and a short name resolves nowhere.
  write(layout.data("podman", "registries.conf"), "unqualified-search-registries = []\n");
  // What is pulled is named by digest from our own signed release; the engine's own signature policy has nothing to add.
  write(
    `${home}/.config/containers/policy.json`,
    '{"default":[{"type":"insecureAcceptAnything"}]}\n',
  );
  write(`${certs}/ca.crt`, readFileSync(host.trustFile));
}

function write(file: string, bytes: string | Uint8Array): void {
  replaceFileNow(file, bytes, 0o644, ROOT);
}
