/** `follower --root ROOT`: follows the coordinator's database onto the target of the schedule, until it is told to stop. Root's: so are the target and the key that signs. */
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { logDestination } from "@resontech/frame/log-destination";
import { pino } from "pino";
import { loadConfig } from "../../config/load-config.ts";
import { Layout } from "@resontech/frame/layout";
import { readRelease } from "../../release.ts";
import { followAppliance } from "./follow-appliance.ts";

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { root: { type: "string" } } });
  if (values.root === undefined) throw new TypeError("usage: follower --root ROOT");
  process.umask(0o077);
  const config = loadConfig(new Layout(values.root, "-").configFile);
  const layout = new Layout(values.root, config.instance);
  const log = pino({ name: "follower" }, logDestination(1));
  const ended = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.once(signal, () => {
      log.info({ signal }, "stopping");
      ended.abort();
    });
  await followAppliance(
    { layout, config, release: readRelease(layout.current), log },
    ended.signal,
  );
}

main().catch((error: unknown) => {
  writeSync(
    2,
    `follower: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}\n`,
  );
  process.exit(1);
});
