import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { command, ToolFailedError } from "../cache/command.ts";
import type { StepCache } from "../cache/step-cache.ts";
import { type DebianPin, LockStaleError, type StalePin } from "../lock/lock-file.ts";

/**
 * Fetches exact package versions and checks each against its pin; answers the folder with `<name>.deb` files.
 * @throws LockStaleError when a mirror no longer serves a pinned version
 */
export async function fetchDebian(
  cache: StepCache,
  set: string,
  pins: readonly DebianPin[],
): Promise<string> {
  return await cache.fetch(`deb ${set}`, { pins }, async (into) => {
    const wanted = pins.map((pin) => `${pin.name}=${pin.version}`);
    try {
      await command("apt-get", ["-qq", "download", ...wanted], { cwd: into });
    } catch (error) {
      if (!(error instanceof ToolFailedError)) throw error;
      // Old package lists look the same as a package that is gone: they are renewed once, then it is decided.
      const stale = await findStale(pins);
      if (stale.length > 0) throw new LockStaleError(stale);
      await command("apt-get", ["-qq", "download", ...wanted], { cwd: into });
    }
    const bySha = new Map(pins.map((pin) => [pin.sha256, pin]));
    for (const file of readdirSync(into).filter((name) => name.endsWith(".deb"))) {
      const sha256 = createHash("sha256")
        .update(readFileSync(join(into, file)))
        .digest("hex");
      const pin = bySha.get(sha256);
      if (pin === undefined)
        throw new Error(`${file} has SHA-256 ${sha256}, which the lock does not pin`);
      bySha.delete(sha256);
      renameSync(join(into, file), join(into, `${pin.name}.deb`));
    }
    if (bySha.size > 0)
      throw new Error(`not fetched: ${[...bySha.values()].map((pin) => pin.name).join(", ")}`);
  });
}

/** Pins that no mirror serves any more, by fresh package lists. */
export async function findStale(pins: readonly DebianPin[]): Promise<StalePin[]> {
  await command("apt-get", ["-qq", "update"]);
  // `name | version | source` a line, all of one package in a row, the newest first.
  const served = new Map<string, string[]>();
  const output = await command("apt-cache", ["madison", ...pins.map((pin) => pin.name)]);
  for (const line of output.split("\n")) {
    const [name = "", version = ""] = line.split("|").map((part) => part.trim());
    if (version !== "") served.set(name, [...(served.get(name) ?? []), version]);
  }
  return pins
    .filter((pin) => !(served.get(pin.name) ?? []).includes(pin.version))
    .map((pin) => ({
      name: pin.name,
      pinned: pin.version,
      served: served.get(pin.name)?.[0] ?? null,
    }));
}
