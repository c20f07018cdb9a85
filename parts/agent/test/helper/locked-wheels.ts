import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { StepCache } from "@resontech/airgap/step-cache";
import { Type } from "typebox";
import { Value } from "typebox/value";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "..", "..", "..", "..");
const Wheel = Type.Object({ name: Type.String(), version: Type.String(), sha256: Type.String() });
const Lock = Type.Object({ pypi: Type.Record(Type.String(), Type.Array(Wheel)) });

/**
 * Wheels as a set of the lock pins them, fetched once and kept in `.cache/`: a whole set may have gigabytes.
 * @returns the content of each, by its file's name
 */
export async function lockedWheels(
  set: string,
  names: readonly string[],
): Promise<Map<string, Uint8Array>> {
  const lock = Value.Parse(
    Lock,
    JSON.parse(readFileSync(join(repository, "airgap/lock.json"), "utf8")),
  );
  const pins = names.map((name) => {
    const pin = lock.pypi[set]?.find((wheel) => wheel.name === name);
    if (pin === undefined) throw new Error(`the lock's set ${set} has no ${name}`);
    return `${name}==${pin.version} --hash=sha256:${pin.sha256}`;
  });
  const cache = new StepCache(join(repository, ".cache/test-venvs"));
  const folder = await cache.fetch(`wheels of ${set}`, { pins }, async (into) => {
    const wanted = join(into, "wanted.txt");
    writeFileSync(wanted, pins.join("\n"));
    const command = ["download", "--quiet", "--no-deps", "--require-hashes", "--dest", into];
    await run("python3", ["-m", "pip", ...command, "--requirement", wanted]);
  });
  const files = readdirSync(folder).filter((name) => name.endsWith(".whl"));
  return new Map(files.map((name) => [name, readFileSync(join(folder, name))]));
}
