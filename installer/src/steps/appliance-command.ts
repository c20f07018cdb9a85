import { spawn } from "node:child_process";
import { join } from "node:path";

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
  if (status === null || !accepted.includes(status))
    throw new ApplianceFailedError(
      `appliance ${args.slice(0, 2).join(" ")} ended with ${status ?? "a signal"}`,
    );
  return output;
}
