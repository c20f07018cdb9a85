import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { command } from "../cache/command.ts";
import { resultId, type StepCache } from "../cache/step-cache.ts";
import { fetchWheels, wheelsIn } from "../fetch/pypi.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { buildDebianRoot } from "./debian-root.ts";
import { packLayer } from "./layer.ts";
import { keepPackages, readLayer, readPackages, writeImage } from "./oci-image.ts";
import { compilePython, listPackages, SITE_PACKAGES, unpackWheels } from "./python-tree.ts";

/** Counts changes of this file that change an image's bytes. */
const REVISION = 2;

const recipes = join(import.meta.dirname, "..", "..", "recipes");
const STAND_INS = join(recipes, "torch-cpu", "mkstubs.py");
const SHRINK = join(recipes, "torch-cpu", "shrink-elf.py");
const LIST_MODULES = join(recipes, "python", "list-modules.py");
const UNPACK = join(recipes, "python", "unpack-wheels.py");

/** What its Python can import beside the standard library. */
const WHEELS = ["fl-cpu", "vision", "torch"] as const;

/** Parts of torch that serve to compile extensions: a job image has no compiler. */
const COMPILER_PARTS = ["include", "bin/protoc", "bin/protoc-3.21.12.0"];

/** The job image of the CPU profile: Debian's Python, NVFlare, torch without CUDA, the public client. Answers its OCI layout. */
export async function buildFlCpu(cache: StepCache, lock: LockFile): Promise<string> {
  const root = await buildDebianRoot(cache, lock, "python");
  const layers = await Promise.all([
    packRuntime(cache, lock, root),
    packPackages(cache, lock, root),
    packTorch(cache, lock, root),
  ]);
  const wheels = await Promise.all(WHEELS.map((set) => fetchWheels(cache, lock, set)));
  const recipe = readFileSync(LIST_MODULES, "utf8");
  return await cache.step(
    "image fl-cpu",
    { layers: layers.map(resultId), recipe, REVISION },
    async (into) => {
      const library = join(root, "root", "usr", "lib", "python3.11");
      const modules = JSON.parse(
        await command("python3", [LIST_MODULES, library, ...wheels.flatMap(wheelsIn)]),
      ) as string[];
      const version = lock.deb["python"]?.find((pin) => pin.name === "python3.11")?.version ?? "";
      writeImage(
        into,
        {
          repository: "resontech/fl-cpu",
          use: "job",
          profile: "fl-cpu",
          packages: Object.assign({}, ...layers.map(readPackages)) as Record<string, string>,
          modules,
          pythonVersion: /^\d+\.\d+\.\d+/.exec(version)?.[0] ?? "3.11",
          config: {
            user: "10001:10001",
            env: [
              "PATH=/usr/local/bin:/usr/bin:/bin",
              "LANG=C.UTF-8",
              "PYTHONDONTWRITEBYTECODE=1",
              "PYTHONUNBUFFERED=1",
            ],
            entrypoint: [],
            cmd: ["/usr/bin/python3"],
            workingDir: "/tmp",
          },
        },
        layers.map(readLayer),
        lock.sourceDateEpoch,
      );
    },
  );
}

async function packRuntime(cache: StepCache, lock: LockFile, root: string): Promise<string> {
  const epoch = lock.sourceDateEpoch;
  return await cache.step(
    "layer python runtime",
    { root: resultId(root), epoch, REVISION },
    async (into) => {
      const tree = join(into, "tree");
      cpSync(join(root, "root"), tree, { recursive: true, verbatimSymlinks: true });
      await compilePython(tree, tree, "usr/lib/python3.11");
      await packLayer(tree, into, epoch);
      rmSync(tree, { recursive: true });
    },
  );
}

async function packPackages(cache: StepCache, lock: LockFile, root: string): Promise<string> {
  const epoch = lock.sourceDateEpoch;
  const [wheels, vision] = await Promise.all([
    fetchWheels(cache, lock, "fl-cpu"),
    fetchWheels(cache, lock, "vision"),
  ]);
  const unpack = readFileSync(UNPACK, "utf8");
  const inputs = {
    root: resultId(root),
    wheels: resultId(wheels),
    vision: resultId(vision),
    unpack,
    epoch,
    REVISION,
  };
  return await cache.step("layer python packages", inputs, async (into) => {
    const tree = join(into, "tree");
    await unpackWheels([...wheelsIn(wheels), ...wheelsIn(vision)], tree);
    await compilePython(join(root, "root"), tree, SITE_PACKAGES);
    await packLayer(tree, into, epoch);
    keepPackages(into, listPackages(tree));
    rmSync(tree, { recursive: true });
  });
}

async function packTorch(cache: StepCache, lock: LockFile, root: string): Promise<string> {
  const epoch = lock.sourceDateEpoch;
  const [wheels, tools] = await Promise.all([
    fetchWheels(cache, lock, "torch"),
    fetchWheels(cache, lock, "build-tools"),
  ]);
  const recipe = [STAND_INS, SHRINK, UNPACK].map((file) => readFileSync(file, "utf8"));
  const inputs = {
    root: resultId(root),
    wheels: resultId(wheels),
    tools: resultId(tools),
    recipe,
    epoch,
    REVISION,
  };
  return await cache.step("layer torch for CPU", inputs, async (into) => {
    const tree = join(into, "tree");
    await unpackWheels(wheelsIn(wheels), tree);
    const torch = join(tree, SITE_PACKAGES, "torch");
    await putStandIns(join(torch, "lib"), wheelsIn(tools), into);
    for (const part of COMPILER_PARTS) rmSync(join(torch, part), { recursive: true, force: true });
    await compilePython(join(root, "root"), tree, SITE_PACKAGES);
    await packLayer(tree, into, epoch);
    keepPackages(into, listPackages(tree));
    rmSync(tree, { recursive: true });
  });
}

/** Stand-ins for the CUDA user libraries that torch links to, where its run path looks; then torch's own without their device code. */
async function putStandIns(lib: string, tools: readonly string[], scratch: string): Promise<void> {
  const [elftools, stubs] = [join(scratch, "elftools"), join(scratch, "stubs")];
  mkdirSync(stubs);
  await unpackWheels(tools, elftools);
  await command("python3", [STAND_INS, lib, stubs], {
    env: { ...process.env, PYTHONPATH: join(elftools, SITE_PACKAGES) },
  });
  const libraries = readdirSync(lib).filter((name) => /^libtorch.*\.so$/.test(name));
  await command("python3", [SHRINK, ...libraries.sort().map((name) => join(lib, name))]);
  for (const name of readdirSync(stubs).filter(
    (file) => /\.so(\.|$)/.test(file) && !/\.(c|map)$/.test(file),
  ))
    copyFileSync(join(stubs, name), join(lib, name));
  for (const folder of [elftools, stubs]) rmSync(folder, { recursive: true });
}
