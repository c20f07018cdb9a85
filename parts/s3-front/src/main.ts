/** `s3-front --config FILE`: the streaming door before the S3 engine. */
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import closeWithGrace from "close-with-grace";
import { logDestination } from "@resontech/frame/log-destination";
import { pino } from "pino";
import { openFront } from "./front.ts";
import { readConfig } from "./read-config.ts";

const USAGE = "usage: s3-front --config FILE\n";
const STOP_TIMEOUT_MS = 14_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { config: { type: "string" }, help: { type: "boolean" } },
  });
  if (values.help === true || values.config === undefined) {
    process.stdout.write(USAGE);
    process.exitCode = values.help === true ? 0 : 2;
    return;
  }
  const config = readConfig(values.config);
  const log = pino({ name: "s3-front", level: config.logLevel }, logDestination(1));
  const front = await openFront(config, log);
  closeWithGrace({ delay: STOP_TIMEOUT_MS, logger: false }, async ({ signal, err }) => {
    if (err !== undefined) log.fatal({ err }, "stopping after an error");
    else log.info({ signal }, "stopping");
    await front[Symbol.asyncDispose]();
  });
  // Last: who reads this may send SIGTERM at once.
  log.info({ port: front.port }, "listening");
}

main().catch((error: unknown) => {
  writeSync(
    2,
    `s3-front: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}\n`,
  );
  process.exit(1);
});
