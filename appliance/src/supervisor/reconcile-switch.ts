import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { SYSTEM_PATH } from "../host-tools/tools-environment.ts";
import type { Layout } from "@resontech/frame/layout";

/**
 * Has the installer end what a power cut may have broken off: a switch to another release, or back. It outlives this supervisor, which it may have to stop,
 * and says nothing where nothing is open.
 */
export function reconcileSwitch(layout: Layout): void {
  const log = openSync(layout.log("settle.log"), "a", 0o640);
  const args = [layout.release("app", "installer.mjs"), "settle", "--root", layout.root];
  const child = spawn(layout.release("bin", "node"), args, {
    ...{ detached: true, stdio: ["ignore", log, log], cwd: "/" },
    env: { PATH: SYSTEM_PATH, LANG: "C.UTF-8" },
  });
  closeSync(log);
  // A release from before it fails, and says so in the log.
  child.once("error", () => undefined);
  child.unref();
}
