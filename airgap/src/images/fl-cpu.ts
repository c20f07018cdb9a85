import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ReleaseImage } from "@resontech/contracts/release-manifest";
import { command } from "../cache/command.ts";
import type { StepCache } from "../cache/step-cache.ts";
import { fetchWheels } from "../fetch/pypi.ts";
import type { LockFile, WheelPin } from "../lock/lock-file.ts";
import { buildDebianRoot } from "./debian-root.ts";
import { packLayer } from "./layer.ts";
import { readLayer, writeImage } from "./oci-image.ts";
import { compilePython, listPackages, SITE_PACKAGES, unpackWheels } from "./python-tree.ts";

const REVISION = 1;

function pinsOf(lock: LockFile, set: string): readonly WheelPin[] {
  const pins = lock.pypi[set];
  if (pins === undefined) throw new Error(`the lock has no wheel set ${set}`);
  return pins;
}

/** The job image of the CPU profile: Debian's Python, NVFlare, torch without CUDA, the public client. Answers its OCI layout. */
export async function buildFlCpu(cache: StepCache, lock: LockFile): Promise<string> {
  const epoch = lock.sourceDateEpoch;
  const [root, wheels, torchWheel, tools] = await Promise.all([
    buildDebianRoot(cache, lock, "python"),
    fetchWheels(cache, "fl-cpu", pinsOf(lock, "fl-cpu")),
    fetchWheels(cache, "torch", pinsOf(lock, "torch")),
    fetchWheels(cache, "build-tools", pinsOf(lock, "build-tools")),
  ]);
  const recipe = join(import.meta.dirname, "..", "..", "recipes", "torch-cpu", "mkstubs.py");
  const [runtime, packages, torch] = await Promise.all([
    cache.step("layer python runtime", { root, epoch, REVISION }, async (into) => {
      const tree = join(into, "tree");
      await command("cp", ["-a", join(root, "root"), tree]);
      await compilePython(tree, tree, "usr/lib/python3.11");
      await packLayer(tree, into, epoch);
    }),
    cache.step("layer python packages", { root, wheels, epoch, REVISION }, async (into) => {
      const tree = join(into, "tree");
      await unpackWheels(wheels, tree);
      await compilePython(join(root, "root"), tree, SITE_PACKAGES);
      await packLayer(tree, into, epoch);
    }),
    cache.step(
      "layer torch for CPU",
      { root, torchWheel, tools, recipe: readFileSync(recipe, "utf8"), epoch, REVISION },
      async (into) => {
        const tree = join(into, "tree");
        await unpackWheels(torchWheel, tree);
        await putStandIns(tree, tools, recipe, into);
        await compilePython(join(root, "root"), tree, SITE_PACKAGES);
        await packLayer(tree, into, epoch);
      },
    ),
  ]);
  return await cache.step("image fl-cpu", { runtime, packages, torch, REVISION }, async (into) => {
    const version = lock.deb["python"]?.find((pin) => pin.name === "python3.11")?.version ?? "";
    writeImage(
      into,
      {
        repository: "resontech/fl-cpu",
        use: "job",
        profile: "fl-cpu",
        packages: { ...listPackages(join(packages, "tree")), ...listPackages(join(torch, "tree")) },
        pythonVersion: /^\d+\.\d+\.\d+/.exec(version)?.[0] ?? "3.11",
        config: {
          user: "10001:10001",
          env: ["PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1"],
          entrypoint: [],
          cmd: ["/usr/bin/python3"],
          workingDir: "/tmp",
        },
      },
      [readLayer(runtime), readLayer(packages), readLayer(torch)],
      epoch,
    );
  });
}

/** Stand-ins for the CUDA user libraries that torch links to, beside torch's own libraries, where its run path looks. */
async function putStandIns(tree: string, tools: string, recipe: string, into: string): Promise<void> {
  const [elftools, stubs] = [join(into, "elftools"), join(into, "stubs")];
  await command("python3", ["-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", elftools, ...wheelFiles(tools)]);
  mkdirSync(stubs);
  const lib = join(tree, SITE_PACKAGES, "torch", "lib");
  await command("python3", [recipe, lib, stubs], { env: { ...process.env, PYTHONPATH: elftools } });
  for (const name of readdirSync(stubs).filter((file) => /\.so(\.|$)/.test(file) && !/\.(c|map)$/.test(file)))
    copyFileSync(join(stubs, name), join(lib, name));
  rmSync(elftools, { recursive: true });
  rmSync(stubs, { recursive: true });
}

function wheelFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".whl"))
    .map((name) => join(folder, name));
}

/** The release's description of an image that a build step left. */
export function readImage(layout: string): ReleaseImage {
  return JSON.parse(readFileSync(join(layout, "image.json"), "utf8")) as ReleaseImage;
}
