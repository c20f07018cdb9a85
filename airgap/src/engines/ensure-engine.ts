/** The native engines: built once from their pinned sources, then answered from the cache. */
import { join } from "node:path";
import { StepCache } from "../cache/step-cache.ts";
import { readLock } from "../lock/lock-file.ts";
import { buildOwnGo, buildPublishedGo } from "./go-engine.ts";

export const NATIVE_ENGINES = { nats: "nats-server", s3: "versitygw", registry: "registry", init: "rt-init" } as const;
export type NativeEngine = keyof typeof NATIVE_ENGINES;

const repository = join(import.meta.dirname, "..", "..", "..");
export const DEFAULT_CACHE = join(repository, ".cache", "airgap");

/** Path of the engine's binary; builds it first when no earlier build did (one to three minutes of CPU each). */
export async function ensureEngine(engine: NativeEngine, cache: StepCache = new StepCache(DEFAULT_CACHE)): Promise<string> {
  switch (engine) {
    case "nats":
    case "s3": {
      const pin = readLock(false).go[engine];
      if (pin === undefined) throw new Error(`the lock has no Go program ${engine}`);
      return await buildPublishedGo(cache, pin, NATIVE_ENGINES[engine]);
    }
    case "registry":
      return await buildOwnGo(cache, join(repository, "airgap", "recipes", "registry"), NATIVE_ENGINES.registry);
    case "init":
      return await buildOwnGo(cache, join(repository, "agent", "init"), NATIVE_ENGINES.init);
  }
}
