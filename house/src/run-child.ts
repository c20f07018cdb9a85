import { spawn } from "node:child_process";

/** A child command that ended badly; `output` holds the end of what it said. */
export class CommandFailedError extends Error {
  readonly code = "command_failed";
  readonly output: string;

  constructor(command: string, status: number | string, output: string) {
    super(`${command} ended with ${status}${output === "" ? "" : `:\n${output}`}`);
    this.output = output;
  }
}

export type ChildOptions = {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Called for each line of standard output; standard error passes through to the person. */
  onLine?: (line: string) => void;
  /** Keep standard error out of sight unless the command fails. @default false */
  quiet?: boolean;
};

/** Runs a command to its end and answers its standard output (the last 16 MiB). */
export async function runChild(
  command: string,
  args: readonly string[],
  options: ChildOptions = {},
): Promise<string> {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ["ignore", "pipe", options.quiet === true ? "pipe" : "inherit"],
  });
  const limit = 16 * 1024 * 1024;
  let output = "";
  let errors = "";
  let rest = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    output = (output + chunk).slice(-limit);
    if (options.onLine === undefined) return;
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) options.onLine(line);
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    errors = (errors + chunk).slice(-8192);
  });
  const status = await new Promise<number | string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  if (rest !== "") options.onLine?.(rest);
  if (status !== 0)
    throw new CommandFailedError(
      [command, ...args].join(" "),
      status,
      errors || output.slice(-4096),
    );
  return output;
}
