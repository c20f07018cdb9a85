import { spawn } from "node:child_process";
import { join } from "node:path";
import { MAX_MAINTENANCE_S } from "@resontech/contracts/operator-appliance";

/** The exit code of a command that does not know an option. */
const USAGE = 2;

/** The installed release's own command failed; what it said stands above. */
export class ApplianceFailedError extends Error {
  readonly code = "appliance_failed";
  readonly hint =
    "see what it said above, put that right and run the same command again: it goes on from here";
}

/**
 * Runs the installed release's own `appliance` command; its progress passes through, its answer is returned.
 *
 * @param accepted exit codes that come with an answer
 * @throws ApplianceFailedError
 */
export async function applianceCommand(
  root: string,
  args: readonly string[],
  accepted: readonly number[] = [0],
): Promise<string> {
  const { status, output } = await runCommand(root, args);
  if (status === null || !accepted.includes(status))
    throw new ApplianceFailedError(
      `appliance ${args.slice(0, 2).join(" ")} ended with ${status ?? "a signal"}`,
    );
  return output;
}

/**
 * Stops the release that runs, for the next one to start: running jobs go on, and the front door tells callers when to come again.
 *
 * @throws ApplianceFailedError
 */
export async function stopForSwitch(root: string): Promise<void> {
  const stop = ["stop", "--for", String(MAX_MAINTENANCE_S)];
  const { status } = await runCommand(root, [...stop, "--keep-door"]);
  // An earlier release has no door that stays.
  if (status === USAGE) await applianceCommand(root, stop);
  else if (status !== 0)
    throw new ApplianceFailedError(`appliance stop ended with ${status ?? "a signal"}`);
}

async function runCommand(
  root: string,
  args: readonly string[],
): Promise<{ status: number | null; output: string }> {
  const child = spawn(join(root, "current", "bin", "appliance"), ["--root", root, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: "/",
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { status, output };
}
