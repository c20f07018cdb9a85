import { spawn } from "node:child_process";
import { join } from "node:path";

/** Runs the installed release's own `appliance` command; its progress passes through, its answer is returned. */
export async function applianceCommand(root: string, args: readonly string[]): Promise<string> {
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
  if (status !== 0) throw new Error(`appliance ${args[0] ?? ""} ended with ${status ?? "a signal"}`);
  return output;
}
