/** `resontech` as one Linux executable with its runtime inside, for laptops that have no Node. */
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLI_DOWNLOADS } from "@resontech/contracts/cli-downloads";
import { command } from "../cache/command.ts";
import type { StepCache } from "../cache/step-cache.ts";
import { pinnedNode } from "../engines/pinned-node.ts";
import type { LockFile } from "../lock/lock-file.ts";
import type { TreeSource } from "../engines/tree-source.ts";

const STAND_ALONE = join(import.meta.dirname, "..", "..", "recipes", "node", "stand-alone.py");

/** @param apps what `buildApps` answered @returns the executable, and its SHA-256 as `sha256sum -c` reads it */
export async function buildCliExecutable(
  cache: StepCache,
  lock: LockFile,
  apps: string,
): Promise<TreeSource[]> {
  const node = pinnedNode(lock);
  const main = join(apps, "app", "resontech.mjs");
  const inputs = {
    node: lock.npm["node"]?.sha256,
    main: sha256(main),
    recipe: readFileSync(STAND_ALONE, "utf8"),
    revision: 2,
  };
  const { executable, digest } = CLI_DOWNLOADS;
  const folder = await cache.step("resontech as one executable", inputs, async (into) => {
    const scratch = join(into, "scratch");
    mkdirSync(scratch);
    copyFileSync(node, join(scratch, "node"));
    copyFileSync(main, join(scratch, "resontech.mjs"));
    await command("python3", [STAND_ALONE, join(scratch, "node")]);
    const config = {
      // The executable holds this path as it stands here: a relative one is the same on every machine.
      ...{ main: "resontech.mjs", mainFormat: "module" },
      ...{ executable: "node", output: join("..", executable) },
      disableExperimentalSEAWarning: true,
      // NODE_OPTIONS of somebody's shell are not meant for it.
      execArgvExtension: "none",
    };
    writeFileSync(join(scratch, "config.json"), JSON.stringify(config));
    await command(node, ["--build-sea", "config.json"], { cwd: scratch });
    rmSync(scratch, { recursive: true });
    const output = join(into, executable);
    writeFileSync(join(into, digest), `${sha256(output)}  ${executable}\n`);
  });
  return Object.values(CLI_DOWNLOADS).map((name) => ({
    ...{ path: `app/downloads/${name}`, file: join(folder, name) },
    executable: name === executable,
  }));
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
