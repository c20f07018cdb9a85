import { execFile } from "node:child_process";
import { mkdir, rename } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const cacheDir = join(import.meta.dirname, "../../../.cache/test-engines");

const MODULES = {
  "nats-server": { module: "github.com/nats-io/nats-server/v2", version: "v2.15.2" },
  versitygw: { module: "github.com/versity/versitygw/cmd/versitygw", version: "v1.8.0" },
} as const;

/** Path of an engine, built once and kept in `.cache/`. */
export async function engineBinary(name: keyof typeof MODULES): Promise<string> {
  const { module, version } = MODULES[name];
  const path = join(cacheDir, `${name}-${version}`);
  if (existsSync(path)) return path;
  const bin = join(cacheDir, `build-${process.pid}`);
  await mkdir(bin, { recursive: true });
  await run("go", ["install", "-trimpath", `${module}@${version}`], { env: { ...process.env, GOBIN: bin } });
  await rename(join(bin, name), path);
  return path;
}
