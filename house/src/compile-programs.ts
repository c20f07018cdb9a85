/** Compiles our processes, or finds them in the cache, and prints the folder that holds them. */
import { join } from "node:path";
import { StepCache } from "../../src/cache/step-cache.ts";
import { DEFAULT_CACHE } from "../../src/engines/ensure-engine.ts";
import { buildApps } from "../../src/release/app-bundles.ts";

process.stdout.write(`${join(await buildApps(new StepCache(DEFAULT_CACHE)), "app")}\n`);
