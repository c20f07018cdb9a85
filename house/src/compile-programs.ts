/** Compiles our processes, or finds them in the cache, and prints the folder that holds them. */
import { join } from "node:path";
import { DEFAULT_CACHE } from "@resontech/airgap/engines";
import { buildApps } from "@resontech/airgap/programs";
import { StepCache } from "@resontech/airgap/step-cache";

process.stdout.write(`${join(await buildApps(new StepCache(DEFAULT_CACHE)), "app")}\n`);
