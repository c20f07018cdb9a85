import { loadConfig } from "../../src/config.ts";
import { initLog } from "../../src/init.ts";

/** The log that `auditd init` makes, in this process: a process for it costs five times as much. */
export async function makeLog(configFile: string): Promise<void> {
  await initLog(await loadConfig(configFile));
}
