/** Builds `resontech` as one executable, or finds it in the cache, and prints the folder that holds it. Its program is the one of the usual cache. */
import { dirname } from "node:path";
import { StepCache } from "../../src/cache/step-cache.ts";
import { DEFAULT_CACHE } from "../../src/engines/ensure-engine.ts";
import { readLock } from "../../src/lock/lock-file.ts";
import { buildApps } from "../../src/release/app-bundles.ts";
import { buildCliExecutable } from "../../src/release/cli-executable.ts";

const cache = new StepCache(process.argv[2] ?? DEFAULT_CACHE);
const apps = await buildApps(new StepCache(DEFAULT_CACHE));
const [first] = await buildCliExecutable(cache, readLock(true), apps);
if (first === undefined) throw new Error("nothing was built");
process.stdout.write(`${dirname(first.file)}\n`);
