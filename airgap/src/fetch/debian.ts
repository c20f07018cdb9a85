import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { command, ToolFailedError } from "../cache/command.ts";
import type { StepCache } from "../cache/step-cache.ts";
import { type DebianPin, LockStaleError } from "../lock/lock-file.ts";

/**
 * Fetches exact package versions and checks each against its pin; answers the folder with `<name>.deb` files.
 * @throws LockStaleError when a mirror no longer serves a pinned version
 */
export async function fetchDebian(cache: StepCache, set: string, pins: readonly DebianPin[]): Promise<string> {
  return await cache.fetch(`deb ${set}`, { pins }, async (into) => {
    mkdirSync(join(into, "partial"));
    const wanted = pins.map((pin) => `${pin.name}=${pin.version}`);
    try {
      await command("apt-get", ["-qq", "download", ...wanted], { cwd: into });
    } catch (error) {
      if (!(error instanceof ToolFailedError)) throw error;
      // Old package lists look the same as a package that is gone: renew them once, then decide.
      await command("apt-get", ["-qq", "update"]);
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
      if (pin === undefined) throw new Error(`${file} has SHA-256 ${sha256}, which the lock does not pin`);
      bySha.delete(sha256);
      renameSync(join(into, file), join(into, `${pin.name}.deb`));
    }
    if (bySha.size > 0) throw new Error(`not fetched: ${[...bySha.values()].map((pin) => pin.name).join(", ")}`);
  });
}

async function findStale(pins: readonly DebianPin[]): Promise<{ name: string; pinned: string; served: string | null }[]> {
  const stale: { name: string; pinned: string; served: string | null }[] = [];
  for (const pin of pins) {
    const output = await command("apt-cache", ["madison", pin.name]).catch(() => "");
    const served = output.split("\n").map((line) => line.split("|")[1]?.trim() ?? "");
    if (!served.includes(pin.version)) stale.push({ name: pin.name, pinned: pin.version, served: served[0] || null });
  }
  return stale;
}
