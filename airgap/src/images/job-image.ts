import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ImageNeeds } from "@resontech/contracts/image-needs";
import { command } from "../cache/command.ts";
import { resultId, type StepCache } from "../cache/step-cache.ts";
import { fetchWheels, wheelsIn } from "../fetch/pypi.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { buildDebianRoot } from "./debian-root.ts";
import { LAYER_REVISION, packLayer } from "./layer.ts";
import { keepPackages, readLayer, readPackages, writeImage } from "./oci-image.ts";
import { compilePython, listPackages, SITE_PACKAGES, unpackWheels } from "../fetch/python-tree.ts";

/** Counts changes of this file that change an image's bytes. */
const REVISION = 3;

const recipes = join(import.meta.dirname, "..", "..", "recipes", "python");
const LIST_MODULES = join(recipes, "list-modules.py");
export const UNPACK = join(recipes, "unpack-wheels.py");

const PYTHON_ROOT = "python";

/** What every job image has beside its torch: NVFlare, the public client, what training scripts import. */
const SHARED_WHEELS = "fl-cpu";

export type PythonImageParts = {
  profile: string;
  needs: ImageNeeds | null;
  /** Debian root that its Python stands in. @default "python" */
  root?: string;
  /** Folders of the layers above Python, and above the shared packages where there are any; lowest first. */
  layers: readonly string[];
  /** What those layers hold. */
  wheels: readonly Wheels[];
};

/** Wheels that a layer is made of. */
export type Wheels = {
  /** What names their content, for the cache. */
  id: string;
  files: readonly string[];
};

/** A wheel set of the lock. */
export async function lockedWheels(cache: StepCache, lock: LockFile, set: string): Promise<Wheels> {
  const folder = await fetchWheels(cache, lock, set);
  return { id: resultId(folder), files: wheelsIn(folder) };
}

/** An image for jobs: Debian's Python, the shared packages, and layers of its own. Answers its OCI layout. */
export async function buildJobImage(
  cache: StepCache,
  lock: LockFile,
  { layers, wheels, ...parts }: PythonImageParts,
): Promise<string> {
  const shared = await lockedWheels(cache, lock, SHARED_WHEELS);
  return await buildPythonImage(cache, lock, {
    ...parts,
    layers: [await packWheels(cache, lock, "layer python packages", [shared]), ...layers],
    wheels: [shared, ...wheels],
  });
}

/** Debian's Python and these layers alone. Answers its OCI layout. */
export async function buildPythonImage(
  cache: StepCache,
  lock: LockFile,
  { profile, needs, root: rootName = PYTHON_ROOT, layers: own, wheels: sets }: PythonImageParts,
): Promise<string> {
  const root = await buildDebianRoot(cache, lock, rootName);
  const layers = [await packRuntime(cache, lock, rootName, root), ...own];
  const wheels = sets.flatMap(({ files }) => files);
  const recipe = readFileSync(LIST_MODULES, "utf8");
  return await cache.step(
    `image ${profile}`,
    { layers: layers.map(resultId), recipe, needs, REVISION },
    async (into) => {
      const library = join(root, "root", "usr", "lib", "python3.11");
      const modules = JSON.parse(
        await command("python3", [LIST_MODULES, library, ...wheels]),
      ) as string[];
      const version = lock.deb[rootName]?.find((pin) => pin.name === "python3.11")?.version ?? "";
      writeImage(
        into,
        {
          repository: `resontech/${profile}`,
          use: "job",
          profile,
          needs,
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

/** The root that a job image's Python stands in: what compiles its packages. */
export async function pythonRoot(cache: StepCache, lock: LockFile): Promise<string> {
  return await buildDebianRoot(cache, lock, PYTHON_ROOT);
}

async function packRuntime(
  cache: StepCache,
  lock: LockFile,
  rootName: string,
  root: string,
): Promise<string> {
  const epoch = lock.sourceDateEpoch;
  return await cache.step(
    `layer ${rootName} runtime`,
    { root: resultId(root), epoch, REVISION, LAYER_REVISION },
    async (into) => {
      const tree = join(into, "tree");
      cpSync(join(root, "root"), tree, { recursive: true, verbatimSymlinks: true });
      await compilePython(tree, tree, "usr/lib/python3.11");
      await packLayer(tree, into, epoch);
      rmSync(tree, { recursive: true });
    },
  );
}

export type Trim = {
  /** What {@link change} is made of, for the cache: texts of recipes, digests of further inputs. */
  inputs: unknown;
  /** Works on the packages' folder before they are compiled. `scratch` lies beside it. */
  change(packages: string, scratch: string): Promise<void>;
};

/** A layer of wheels, unpacked, changed and compiled. Answers its folder. */
export async function packWheels(
  cache: StepCache,
  lock: LockFile,
  name: string,
  wheels: readonly Wheels[],
  trim?: Trim,
): Promise<string> {
  const epoch = lock.sourceDateEpoch;
  const root = await pythonRoot(cache, lock);
  const inputs = {
    root: resultId(root),
    wheels: wheels.map(({ id }) => id),
    unpack: readFileSync(UNPACK, "utf8"),
    trim: trim?.inputs ?? null,
    epoch,
    REVISION,
    LAYER_REVISION,
  };
  return await cache.step(name, inputs, async (into) => {
    const tree = join(into, "tree");
    await unpackWheels(
      wheels.flatMap(({ files }) => files),
      tree,
    );
    await trim?.change(join(tree, SITE_PACKAGES), into);
    await compilePython(join(root, "root"), tree, SITE_PACKAGES);
    await packLayer(tree, into, epoch);
    keepPackages(into, listPackages(tree));
    rmSync(tree, { recursive: true });
  });
}
