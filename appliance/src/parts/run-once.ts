import { spawn } from "node:child_process";

/** Runs a program of the release to its end under a numeric user and answers its standard output. */
export async function runOnce(
  program: string,
  args: readonly string[],
  uid: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = spawn(program, args, {
    uid,
    gid: uid,
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", LANG: "C.UTF-8", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors = (errors + chunk).slice(-4096);
  });
  const status = await new Promise<number | string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  if (status !== 0)
    throw new Error(
      `${program} ${args.slice(0, 2).join(" ")} ended with ${status}: ${errors || output}`,
    );
  return output;
}
