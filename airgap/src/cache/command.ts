import { spawn } from "node:child_process";

/** A tool of the build that ended badly; `message` holds the end of its output. */
export class ToolFailedError extends Error {
  readonly code = "tool_failed";
}

export type CommandOptions = { cwd?: string; env?: NodeJS.ProcessEnv; input?: string };

/** Runs a build tool to its end and answers its standard output; its noise is shown only when it fails. */
export async function command(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  const out: Buffer[] = [];
  let errors = "";
  child.stdout?.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    errors = (errors + chunk).slice(-8192);
  });
  if (options.input !== undefined) child.stdin?.end(options.input);
  const status = await new Promise<number | string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  const output = Buffer.concat(out).toString("utf8");
  if (status !== 0)
    throw new ToolFailedError(
      `${program} ${args.slice(0, 4).join(" ")} … ended with ${status}:\n${(errors || output).slice(-4096)}`,
    );
  return output;
}
