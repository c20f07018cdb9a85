import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { AlreadyRunningError, takeExclusiveLock } from "@resontech/appliance/exclusive-lock";
import { Journal } from "../journal.ts";
import { runInstall } from "../run-install.ts";
import { say } from "../say.ts";
import { currentRelease, stagedFolder } from "../steps/current-release.ts";
import { openStagedBundle } from "../steps/staged-bundle.ts";
import { openSwitch } from "./earlier-release.ts";
import { returnRelease } from "./return-release.ts";

/**
 * What each start of the appliance asks for: a switch from one release to another that a power cut broke off is taken to its end, or back. Where nothing
 * is open, or somebody is at it, this does nothing.
 *
 * @param isDriver this is the installer of the release that began the switch
 * @throws what the open run throws
 */
export async function settle(root: string, isDriver: boolean): Promise<void> {
  const asked = openSwitch(new Journal(root));
  if (asked === null) return;
  const driver = isDriver ? null : stagedFolder(root, asked.drivenBy);
  if (driver !== null && driver !== currentRelease(root)) return await handOver(root, driver);
  let lock: Disposable;
  try {
    lock = takeExclusiveLock(join(root, "journal", "lock"), "an install", [
      join(root, "current", "engines", "rt-lock"),
    ]);
  } catch (error) {
    if (error instanceof AlreadyRunningError) return;
    throw error;
  }
  using _lock = lock;
  // Whoever had the lock meanwhile may have ended it.
  const open = openSwitch(new Journal(root));
  if (open === null) return;
  if (open.kind === "return") {
    if (open.to === null) return say("the release that was to come back is not there any more");
    say(`the return to ${open.to.version} goes on`);
    return await returnRelease(root, open.to);
  }
  const { request, release } = open.begin;
  const folder = stagedFolder(root, release);
  if (folder === null) return say("the release that was to come is not staged any more");
  say(`the install of ${release} goes on`);
  await runInstall(request, openStagedBundle(request, folder));
}

/** The newer of two releases drives a switch, either way. */
async function handOver(root: string, driver: string): Promise<void> {
  const program = join(driver, "app", "installer.mjs");
  const child = spawn(
    join(driver, "bin", "node"),
    [program, "settle", "--driver", "--root", root],
    {
      ...{ stdio: "inherit", cwd: "/" },
    },
  );
  await once(child, "close");
}
