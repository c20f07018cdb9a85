import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ProbeFailedError } from "./accelerator-probe.ts";

const TIMEOUT_MS = 20_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const MAX_SAID_CHARS = 300;

/**
 * What a vendor's tool writes; null where it is not installed.
 * @throws ProbeFailedError when it fails, writes too much or does not end within 20 s
 */
export async function runTool(tool: string, args: readonly string[]): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(tool, args, {
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
      maxBuffer: MAX_OUTPUT_BYTES,
    });
    return stdout;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw new ProbeFailedError(tool, whyFailed(error), { cause: error });
  }
}

/** Tools say what is wrong on their standard output: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver." */
function whyFailed(error: unknown): string {
  if (codeOf(error) === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER")
    return `wrote more than ${MAX_OUTPUT_BYTES} bytes`;
  if (error instanceof Error && "killed" in error && error.killed === true)
    return `did not end within ${TIMEOUT_MS / 1000} s`;
  const said = saidOn(error, "stdout") || saidOn(error, "stderr");
  return `failed (${String(codeOf(error))}): ${said.slice(0, MAX_SAID_CHARS)}`;
}

function saidOn(error: unknown, stream: "stdout" | "stderr"): string {
  const said: unknown = error instanceof Error ? Reflect.get(error, stream) : undefined;
  return typeof said === "string" ? said.trim() : "";
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
