import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const cacheDir = join(import.meta.dirname, "../../../.cache/test-venvs");

export type ClientVersion = "0.3.0" | "0.2.1";
export const CLIENT_VERSIONS: readonly ClientVersion[] = ["0.3.0", "0.2.1"];

const BESIDE = ["boto3==1.40.76", "httpx==0.28.1"];
const LONGEST_INSTALL_MS = 180_000;

/** Python with the public client as it is on PyPI, installed once and kept in `.cache/`. */
export async function clientPython(version: ClientVersion): Promise<string> {
  const venv = join(cacheDir, version);
  const python = join(venv, "bin", "python");
  const ready = join(venv, "ready");
  const lock = join(cacheDir, `${version}.lock`);
  await mkdir(cacheDir, { recursive: true });
  for (const started = Date.now(); !existsSync(ready); ) {
    const isOurs = await mkdir(lock).then(
      () => true,
      () => false,
    );
    if (!isOurs) {
      if (Date.now() - started > LONGEST_INSTALL_MS) await rm(lock, { recursive: true, force: true });
      await setTimeout(200);
      continue;
    }
    try {
      await rm(venv, { recursive: true, force: true });
      await run("python3", ["-m", "venv", venv]);
      await run(python, ["-m", "pip", "install", "--quiet", `resontech==${version}`, ...BESIDE]);
      await mkdir(`${ready}.new`);
      await rename(`${ready}.new`, ready);
    } finally {
      await rm(lock, { recursive: true, force: true });
    }
  }
  return python;
}

/** Runs a Python script; its last line of output is JSON. The client's own progress lines before it are dropped. */
export async function runPython(python: string, script: string, env: Record<string, string>): Promise<unknown> {
  const { stdout } = await run(python, ["-c", script], {
    env: { PATH: process.env["PATH"] ?? "", PYTHONWARNINGS: "error::DeprecationWarning:resontech", ...env },
    timeout: 60_000,
    maxBuffer: 16 * 1024 * 1024,
  });
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "null");
}
