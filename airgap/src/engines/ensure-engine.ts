/** The native engines: built once from their pinned sources, then answered from the cache. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { StepCache } from "../cache/step-cache.ts";
import { readLock } from "../lock/lock-file.ts";
import { SourceMissingError } from "./source-missing-error.ts";
import { buildOwnGo, buildPublishedGo, type GoTarget } from "./go-engine.ts";

/** Engine → its program's name. */
export const NATIVE_ENGINES = {
  nats: "nats-server",
  s3: "versitygw",
  registry: "registry",
  init: "rt-init",
  verify: "rt-verify",
  lock: "rt-lock",
  xattr: "rt-xattr",
  prometheus: "prometheus",
} as const;
export type NativeEngine = keyof typeof NATIVE_ENGINES;

const repository = join(import.meta.dirname, "..", "..", "..");
export const DEFAULT_CACHE = join(repository, ".cache", "airgap");

/** Programs of ours, or a main function of ours around a published module: folder of their go.mod. */
const OWN_SOURCES: Partial<Record<NativeEngine, string>> = {
  registry: "airgap/recipes/registry",
  init: "parts/agent/init",
  verify: "installer/verify",
  lock: "installer/lock",
  xattr: "backup/xattr",
  prometheus: "airgap/recipes/prometheus",
};

/** Prometheus finds targets in a file or over HTTP alone: clients of clouds and of Kubernetes stay out, and its pages too. */
const TARGETS: Partial<Record<NativeEngine, GoTarget>> = {
  prometheus: {
    package: "github.com/prometheus/prometheus/cmd/prometheus",
    tags: ["remove_all_sd", "enable_file_sd", "enable_http_sd"],
  },
};

/**
 * Path of the engine's program; builds it first when no earlier build did (one to three minutes of CPU each), and needs Go for that.
 * @throws SourceMissingError
 */
export async function ensureEngine(
  engine: NativeEngine,
  cache: StepCache = new StepCache(DEFAULT_CACHE),
): Promise<string> {
  const own = OWN_SOURCES[engine];
  if (own === undefined) {
    const pin = readLock(false).go[engine];
    if (pin === undefined) throw new Error(`the lock has no Go program ${engine}`);
    return await buildPublishedGo(cache, pin, NATIVE_ENGINES[engine]);
  }
  if (!existsSync(join(repository, own, "go.mod")))
    throw new SourceMissingError(`engines/${NATIVE_ENGINES[engine]}`, `${own}/go.mod`);
  return await buildOwnGo(cache, join(repository, own), NATIVE_ENGINES[engine], TARGETS[engine]);
}
