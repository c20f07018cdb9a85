import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { command } from "../cache/command.ts";
import type { StepCache } from "../cache/step-cache.ts";

/** Fetches one artefact by its coordinates and checks its SHA-256; answers the file. */
export async function fetchMaven(
  cache: StepCache,
  pin: { coordinates: string; file: string; sha256: string },
): Promise<string> {
  const folder = await cache.fetch(`maven ${pin.file}`, { pin }, async (into) => {
    await command("mvn", [
      "-q",
      "-B",
      "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy",
      `-Dartifact=${pin.coordinates}`,
      `-DoutputDirectory=${into}`,
      "-Dmdep.useBaseVersion=true",
    ]);
    const sha256 = createHash("sha256")
      .update(readFileSync(join(into, pin.file)))
      .digest("hex");
    if (sha256 !== pin.sha256)
      throw new Error(`${pin.file} has SHA-256 ${sha256}, the lock says ${pin.sha256}`);
  });
  return join(folder, pin.file);
}
