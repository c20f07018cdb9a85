import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { RUNTIME, RUNTIME_LIBRARIES } from "@resontech/contracts/release-manifest";
import { command } from "../cache/command.ts";
import { resultId, type StepCache } from "../cache/step-cache.ts";
import { fetchDebian } from "../fetch/debian.ts";
import type { LockFile } from "../lock/lock-file.ts";
import type { TreeSource } from "./tree-source.ts";
import { pinnedNode } from "./pinned-node.ts";

const BIND = join(import.meta.dirname, "..", "..", "recipes", "node", "bind-libraries.py");
/** The one library that Node needs and small hosts lack: soname → Debian package. */
const LIBRARY = {
  soname: "libatomic.so.1",
  package: "libatomic1",
  path: "usr/lib/x86_64-linux-gnu/libatomic.so.1",
};
/** Debian keeps the licence of all of GCC's libraries here. */
const COPYRIGHT = { package: "gcc-12-base", path: "usr/share/doc/gcc-12-base/copyright" };
/** An installed tree has the library in `lib/`; on the medium Node and the library are blobs of one folder. */
const RUN_PATH = "$ORIGIN/../lib:$ORIGIN";

/**
 * Node, told where the library is that it brings along. The library's name is its own SHA-256: the one name that it has in a tree and among
 * the blobs of a medium, where Node runs before anything is installed.
 */
export async function buildRuntime(cache: StepCache, lock: LockFile): Promise<TreeSource[]> {
  const node = pinnedNode(lock);
  const debs = await fetchDebian(cache, "runtime", lock.deb["runtime"] ?? []);
  const inputs = {
    node: lock.npm["node"]?.sha256,
    debs: resultId(debs),
    recipe: readFileSync(BIND, "utf8"),
    RUN_PATH,
    LIBRARY,
  };
  const folder = await cache.step("runtime with its library", inputs, async (into) => {
    const unpacked = join(into, "unpacked");
    for (const { package: name } of [LIBRARY, COPYRIGHT])
      await command("dpkg-deb", ["--extract", join(debs, `${name}.deb`), unpacked]);
    copyFileSync(join(unpacked, LIBRARY.path), join(into, LIBRARY.soname));
    renameSync(join(unpacked, COPYRIGHT.path), join(into, "copyright"));
    rmSync(unpacked, { recursive: true });
    copyFileSync(node, join(into, "node"));
    await command("python3", [
      BIND,
      join(into, "node"),
      RUN_PATH,
      `${LIBRARY.soname}=${sha256(join(into, LIBRARY.soname))}`,
    ]);
  });
  const library = join(folder, LIBRARY.soname);
  return [
    { path: RUNTIME, file: join(folder, "node"), executable: true },
    { path: `${RUNTIME_LIBRARIES}/${sha256(library)}`, file: library, executable: false },
    {
      path: `${RUNTIME_LIBRARIES}/${LIBRARY.soname}.copyright`,
      file: join(folder, "copyright"),
      executable: false,
    },
  ];
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
