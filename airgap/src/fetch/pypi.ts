import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { command } from "../cache/command.ts";
import type { StepCache } from "../cache/step-cache.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { WHEEL_SETS } from "../lock/roots.ts";
import { wheelPlatform } from "./wheel-platform.ts";

/** Fetches a wheel set of the lock; pip refuses any file whose SHA-256 is not the pinned one. Answers the folder with the wheels. */
export async function fetchWheels(cache: StepCache, lock: LockFile, set: string): Promise<string> {
  const pins = lock.pypi[set];
  if (pins === undefined) throw new Error(`the lock has no wheel set ${set}`);
  return await cache.fetch(`wheels ${set}`, { pins }, async (into) => {
    const requirements = join(into, "requirements.txt");
    writeFileSync(
      requirements,
      pins.map((pin) => `${pin.name}==${pin.version} --hash=sha256:${pin.sha256}\n`).join(""),
    );
    await command("python3", [
      "-m",
      "pip",
      "download",
      "--quiet",
      "--disable-pip-version-check",
      "--no-deps",
      ...wheelPlatform(WHEEL_SETS[set]?.inImage ?? false),
      "--require-hashes",
      "--dest",
      into,
      "--requirement",
      requirements,
    ]);
  });
}

/** Paths of the wheels in a folder that {@link fetchWheels} answered. */
export function wheelsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".whl"))
    .sort()
    .map((name) => join(folder, name));
}
