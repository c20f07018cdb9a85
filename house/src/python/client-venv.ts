import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { StepCache } from "@resontech/airgap/step-cache";

const run = promisify(execFile);
const cache = new StepCache(join(import.meta.dirname, "../../../.cache/test-venvs"));

export type ClientVersion = "0.3.0" | "0.2.1";
export const CLIENT_VERSIONS: readonly ClientVersion[] = ["0.3.0", "0.2.1"];

const BESIDE = ["boto3==1.40.76", "httpx==0.28.1"];

/** Python with the public client as it is on PyPI, installed once and kept in `.cache/`, whoever asks for it at once. */
export async function clientPython(version: ClientVersion): Promise<string> {
  const packages = [`resontech==${version}`, ...BESIDE];
  const venv = await cache.fetch(`python client ${version}`, { packages }, async (into) => {
    await run("python3", ["-m", "venv", into]);
    await run(pythonOf(into), ["-m", "pip", "install", "--quiet", ...packages]);
  });
  return pythonOf(venv);
}

/** Finds where the client's package lies, as it was installed. */
export async function clientPackage(version: ClientVersion): Promise<string> {
  const { stdout } = await run(await clientPython(version), [
    "-c",
    "import sysconfig; print(sysconfig.get_path('purelib'))",
  ]);
  return join(stdout.trim(), "resontech");
}

function pythonOf(venv: string): string {
  return join(venv, "bin", "python");
}

/** Runs a Python script; its last line of output is JSON. The client's own progress lines before it are dropped. */
export async function runPython(
  python: string,
  script: string,
  env: Record<string, string>,
): Promise<unknown> {
  const { stdout } = await run(python, ["-c", script], {
    env: {
      PATH: process.env["PATH"] ?? "",
      PYTHONWARNINGS: "error::DeprecationWarning:resontech",
      ...env,
    },
    timeout: 60_000,
    maxBuffer: 16 * 1024 * 1024,
  });
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "null");
}
