import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { verifyStatements } from "@resontech/airgap/verify-bundle";
import { Journal } from "../journal.ts";
import { NotInstalledError } from "../uninstall.ts";

/**
 * Runs the medium's own `install.sh` on this appliance, once the key of the installed release has vouched for that script.
 *
 * @returns its exit code
 * @throws NotInstalledError, BundleRefusedError
 */
export async function upgrade(
  root: string,
  medium: string,
  { yes, dryRun, allowOlder }: { yes: boolean; dryRun: boolean; allowOlder: boolean },
): Promise<number> {
  const { lastBegin } = new Journal(root);
  if (lastBegin === null)
    throw new NotInstalledError(`${root} has no journal of an install; nothing was touched`);
  const folder = resolve(medium);
  verifyStatements(folder, lastBegin.request.keyPem);
  const wanted = { "--yes": yes, "--dry-run": dryRun, "--allow-older": allowOlder };
  const given = Object.entries(wanted).flatMap(([flag, isGiven]) => (isGiven ? [flag] : []));
  const flags = ["--root", root, ...given];
  const child = spawn("sh", [join(folder, "install.sh"), ...flags], { stdio: "inherit" });
  const [code] = (await once(child, "close")) as [number | null];
  return code ?? 1;
}
