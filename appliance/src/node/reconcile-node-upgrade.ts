import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { SYSTEM_PATH } from "../host-tools/tools-environment.ts";

/** Below the node's folder of logs: what its installer says while it brings another release. */
const LOG = "upgrade.log";

/**
 * Has the node's installer end an upgrade that is open, as soon as nobody else is at it. It outlives whoever asks, who may be killed, or stopped by it.
 *
 * @param releaseDir whose installer it is
 */
export function reconcileNodeUpgrade(root: string, releaseDir: string): void {
  mkdirSync(join(root, "log"), { recursive: true, mode: 0o750 });
  const log = openSync(join(root, "log", LOG), "a", 0o640);
  const args = [
    join(releaseDir, "app", "installer.mjs"),
    ...["upgrade-node", "--root", root, "--settle"],
  ];
  const child = spawn(join(releaseDir, "bin", "node"), args, {
    ...{ detached: true, stdio: ["ignore", log, log], cwd: "/" },
    env: { PATH: SYSTEM_PATH, LANG: "C.UTF-8" },
  });
  closeSync(log);
  // A release from before it fails, and says so in the log.
  child.once("error", () => undefined);
  child.unref();
}
